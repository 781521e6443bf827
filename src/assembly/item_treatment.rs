//! The recorded treatment of an item, so that a later fit can apply it again (docs/agents.md).

use std::borrow::Cow;

use crate::assembly::item::Item;
use crate::assembly::kept_ends::KeptEnds;
use crate::assembly::shorten::CLEARED_RESULT;
use crate::assembly::treatments::RecordedTreatment;
use crate::content::Block;
use crate::prompt::Prices;
use crate::text::{split_once, trim, whole_number};

/// The treatment of an item. Removed thinking is recorded separately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ItemTreatment {
    /// The whole item was removed.
    Removed,
    /// Some of its texts were changed.
    Changed(Vec<TextTreatment>),
}

/// The treatment of a text of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextTreatment {
    /// The text at this index among the item's texts, including those in results, was shortened.
    Shortened(usize, KeptEnds),
    /// The result at this index among the item's results was replaced by the placeholder.
    Cleared(usize),
}

/// Indices among texts and among results.
#[derive(Clone, Copy, Debug, Default)]
struct Places {
    text: usize,
    result: usize,
}

impl ItemTreatment {
    /// The changes of an item's texts; `None` if they are unchanged.
    pub(crate) fn of_texts(whole: &Item<'_>, now: &Item<'_>) -> Option<Self> {
        let mut places = Places::default();
        let mut found = Vec::new();
        for ((text_start, text), (start, changed)) in texts(whole).zip(texts(now)) {
            match (text, changed) {
                (Block::Text(text), Block::Text(changed)) => {
                    let (text, changed) = (text.get(text_start..), changed.get(start..));
                    found.extend(text.zip(changed).and_then(|(text, changed)| shortened(places.text, text, changed)));
                    places.text += 1;
                }
                (Block::ToolResult { content, .. }, Block::ToolResult { content: changed, .. }) => {
                    if content != changed && matches!(&**changed, [Block::Text(text)] if text == CLEARED_RESULT) {
                        found.push(TextTreatment::Cleared(places.result));
                    }
                    let pairs = content.iter().zip(changed).filter(|_| content.len() == changed.len());
                    let pairs = pairs.filter_map(|(text, changed)| Some((text.as_text()?, changed.as_text()?)));
                    if found.last() != Some(&TextTreatment::Cleared(places.result)) {
                        found.extend(
                            pairs
                                .enumerate()
                                .filter_map(|(at, (text, changed))| shortened(places.text + at, text, changed)),
                        );
                    }
                    places.text += content.iter().filter(|block| block.as_text().is_some()).count();
                    places.result += 1;
                }
                _ => {}
            }
        }
        (!found.is_empty()).then_some(Self::Changed(found))
    }

    /// Applies the treatment to the texts of an item.
    pub(crate) fn apply(&self, item: &mut Item<'_>, prices: &Prices<'_>) {
        let Self::Changed(changes) = self else { return };
        let header = item.header;
        let mut places = Places::default();
        for (part, block) in item.parts.iter_mut().enumerate() {
            let start = header.filter(|header| header.part == part).map_or(0, |header| header.len);
            match block {
                Block::Text(text) if text.len() > start => {
                    let own = text.get(start..).map(trim);
                    if let Some(own) = own.and_then(|own| ends_of(changes, places.text)?.apply(own)) {
                        *text = Cow::Owned([text.get(..start).unwrap_or_default(), &own].concat());
                    }
                    places.text += 1;
                }
                Block::ToolResult { content, .. } => {
                    let first = places.text;
                    places.text += content.iter().filter(|block| block.as_text().is_some()).count();
                    if changes.contains(&TextTreatment::Cleared(places.result)) {
                        *content = vec![Block::text(CLEARED_RESULT)];
                    } else {
                        let texts = content.iter_mut().filter(|block| block.as_text().is_some());
                        for (at, block) in texts.enumerate() {
                            let ends = ends_of(changes, first + at);
                            let shortened = ends.zip(block.as_text()).and_then(|(ends, text)| ends.apply(trim(text)));
                            shortened.into_iter().for_each(|text| *block = Block::text(text));
                        }
                    }
                    places.result += 1;
                }
                _ => {}
            }
        }
        item.alone = item.parts.iter().map(|part| prices.block(part)).sum();
    }

    pub(crate) fn is_removed(&self) -> bool {
        *self == Self::Removed
    }
}

/// The texts and results of an item, and the length of the header before each.
fn texts<'i, 'a>(item: &'i Item<'a>) -> impl Iterator<Item = (usize, &'i Block<'a>)> {
    item.parts.iter().enumerate().filter_map(|(part, block)| {
        let start = item.header.filter(|header| header.part == part).map_or(0, |header| header.len);
        match block {
            Block::Text(text) if text.len() > start => Some((start, block)),
            Block::ToolResult { .. } => Some((0, block)),
            _ => None,
        }
    })
}

fn shortened(place: usize, text: &str, changed: &str) -> Option<TextTreatment> {
    (text != changed).then(|| TextTreatment::Shortened(place, KeptEnds::of(trim(text), changed)))
}

fn ends_of(changes: &[TextTreatment], place: usize) -> Option<&KeptEnds> {
    changes.iter().find_map(|change| match change {
        TextTreatment::Shortened(at, ends) if *at == place => Some(ends),
        _ => None,
    })
}

/// `!` stands for the whole item; otherwise the texts are listed, as in `s0.120.80 c1`. Custom markers are stored
/// separately.
impl RecordedTreatment for ItemTreatment {
    fn to_text(&self) -> (String, Vec<&str>) {
        let changes = match self {
            Self::Removed => return ("!".to_owned(), Vec::new()),
            Self::Changed(changes) => changes,
        };
        let mut markers = Vec::new();
        let words = changes.iter().map(|change| match change {
            TextTreatment::Shortened(at, ends) => {
                markers.extend(ends.marker.as_deref());
                format!("s{at}.{}", ends.to_text())
            }
            TextTreatment::Cleared(at) => format!("c{at}"),
        });
        let words: Vec<String> = words.collect();
        (words.join(" "), markers)
    }

    fn parse(text: &str, markers: Vec<String>) -> Option<Self> {
        if text == "!" {
            return Some(Self::Removed);
        }
        let mut markers = markers.into_iter();
        let number = |digits: &str| whole_number(digits).map(|number| number as usize);
        let word = |word: &str| match word.strip_prefix('c') {
            Some(at) => Some(TextTreatment::Cleared(number(at)?)),
            None => {
                let (at, ends) = split_once(word.strip_prefix('s')?, ".")?;
                Some(TextTreatment::Shortened(number(at)?, KeptEnds::parse(ends, &mut markers)?))
            }
        };
        text.split(' ').map(word).collect::<Option<_>>().map(Self::Changed)
    }

    fn leaves_same(&self, other: &Self) -> bool {
        self == other
    }
}
