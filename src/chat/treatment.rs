//! The recorded treatment of a message, so that a later fit can apply it again (docs/agents.md).

use super::pairs::MessageSlice;
use crate::assembly::kept_ends::KeptEnds;
use crate::assembly::shorten::IMAGE;
use crate::assembly::treatments::RecordedTreatment;
use crate::prompt::Prices;
use crate::text::{split_once, trim, whole_number};
use crate::vendors::pieces::message::{Change, EMPTY_INPUT, Kind, Message, Piece, Reason, Step};

/// The treatment of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Treatment {
    /// The whole message was removed.
    Removed(Reason),
    Changed(ChangedPieces),
}

/// The treatments of the pieces of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ChangedPieces {
    pieces: Vec<(usize, PieceTreatment)>,
    /// The number of removed steps.
    steps_removed: u64,
}

/// The treatment of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PieceTreatment {
    Removed(Reason),
    /// Replaced by the placeholder of cleared results.
    ResultCleared,
    InputCleared,
    /// One of its images, or the whole piece, was replaced.
    ImageReplaced,
    IdRemoved,
    /// A text of which these numbers of bytes are kept at the beginning and the end, without surrounding white space.
    Shortened {
        text: usize,
        ends: KeptEnds,
        reason: Reason,
    },
}

/// The text that replaces cleared results.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placeholder<'p> {
    pub text: &'p str,
    pub prices: Prices<'p>,
}

impl Treatment {
    /// The treatment of a message from which a cut removes slices. `None` if it is unchanged, or changed only in ways
    /// that apply to the end of a chat.
    pub(super) fn of(read: &Message<'_>, now: &Message<'_>, gone: &[MessageSlice]) -> Option<Self> {
        if let Some(reason) = now.removed {
            return (reason != Reason::EndOn).then_some(Self::Removed(reason));
        }
        let is_gone = |place: usize| gone.iter().any(|slice| (slice.from..slice.to).contains(&place));
        let mut pieces = now.pieces.iter().enumerate();
        if !gone.is_empty() && !pieces.any(|(at, piece)| !is_gone(at) && piece.is_there() && !piece.is_silent()) {
            return Some(Self::Removed(Reason::OverLimit));
        }
        let mut changed = ChangedPieces::default();
        for (at, (piece, before)) in now.pieces.iter().zip(&read.pieces).enumerate() {
            let removed = piece.removed.or_else(|| is_gone(at).then_some(Reason::OverLimit));
            match removed {
                Some(reason) if before.is_there() => changed.pieces.push((at, PieceTreatment::Removed(reason))),
                Some(_) => {}
                None => changed.add(at, before, piece),
            }
        }
        changed.steps_removed = read.steps.saturating_sub(now.steps.saturating_sub(gone.len() as u64));
        (!changed.pieces.is_empty()).then_some(Self::Changed(changed))
    }

    /// Applies the treatment to a message.
    pub(super) fn apply(&self, message: &mut Message<'_>, placeholder: Placeholder<'_>) {
        match self {
            Self::Removed(reason) => message.removed = Some(*reason),
            Self::Changed(changed) => {
                for (at, treatment) in &changed.pieces {
                    if let Some(piece) = message.pieces.get_mut(*at) {
                        changed.apply(piece, treatment, placeholder);
                    }
                }
                message.steps = message.steps.saturating_sub(changed.steps_removed).max(1);
            }
        }
    }

    /// The part that a fit from scratch keeps: removed invalid thinking, and removed broken pairs.
    pub(super) fn lasting(&self) -> Option<Self> {
        let is_final = |reason: Reason| matches!(reason, Reason::ReasoningPrefixChanged | Reason::ToolPairBroken);
        match self {
            Self::Removed(reason) => is_final(*reason).then(|| self.clone()),
            Self::Changed(changed) => {
                let is = |treatment: &PieceTreatment| matches!(treatment, PieceTreatment::Removed(reason) if is_final(*reason));
                let pieces: Vec<_> = changed.pieces.iter().filter(|(_, treatment)| is(treatment)).cloned().collect();
                (!pieces.is_empty()).then(|| Self::Changed(ChangedPieces { pieces, ..ChangedPieces::default() }))
            }
        }
    }

    pub(super) fn is_removed(&self) -> bool {
        matches!(self, Self::Removed(_))
    }
}

impl PieceTreatment {
    fn leaves_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Removed(_), Self::Removed(_)) => true,
            (Self::Shortened { text, ends, .. }, Self::Shortened { text: other_text, ends: other_ends, .. }) => {
                (text, ends) == (other_text, other_ends)
            }
            _ => self == other,
        }
    }
}

impl ChangedPieces {
    /// Adds the changes of a piece.
    fn add(&mut self, at: usize, before: &Piece<'_>, now: &Piece<'_>) {
        let known = before.changes.len().min(now.changes.len());
        let is_new =
            now.changes.get(..known) != before.changes.get(..known) || now.changes.len() != before.changes.len();
        if !is_new {
            return;
        }
        for change in &now.changes {
            let treatment = match change {
                Change::Set(path, _) => {
                    let text = before.texts.iter().position(|text| text.path == *path);
                    let shortened = text.and_then(|text| shortened(text, before, now));
                    let is_input = before.input.as_ref().is_some_and(|input| input.path == *path);
                    match shortened {
                        Some(shortened) => shortened,
                        None if is_input => PieceTreatment::InputCleared,
                        None if before.images.iter().any(|image| image.path == *path) => PieceTreatment::ImageReplaced,
                        None if before.kind == Kind::Image => PieceTreatment::ImageReplaced,
                        None => PieceTreatment::ResultCleared,
                    }
                }
                Change::Remove([path]) if before.images.iter().any(|image| image.path == *path) => {
                    PieceTreatment::ImageReplaced
                }
                Change::Remove([path]) if matches!(path.as_slice(), [Step::Key("id")]) => PieceTreatment::IdRemoved,
                // Part of a cleared result.
                Change::Remove(_) => continue,
            };
            self.pieces.push((at, treatment));
        }
    }

    fn apply(&self, piece: &mut Piece<'_>, treatment: &PieceTreatment, placeholder: Placeholder<'_>) {
        let Placeholder { text: cleared, prices } = placeholder;
        match treatment {
            PieceTreatment::Removed(reason) => {
                piece.remove(*reason);
            }
            PieceTreatment::ResultCleared => {
                piece.put_text(cleared, prices.text(cleared), Reason::ResultCleared);
            }
            PieceTreatment::InputCleared => {
                piece.clear_input(prices.text(EMPTY_INPUT), Reason::InputCleared);
            }
            PieceTreatment::ImageReplaced => {
                piece.replace_image(IMAGE, prices.text(IMAGE), Reason::ImageRemoved);
            }
            PieceTreatment::IdRemoved => piece.remove_id(),
            PieceTreatment::Shortened { text, ends, reason } => {
                let whole = piece.texts.get(*text).map(|text| trim(&text.text));
                let Some(shortened) = whole.and_then(|whole| ends.apply(whole)) else { return };
                let tokens = prices.text(&shortened);
                piece.shorten(*text, shortened, tokens, *reason);
            }
        }
    }
}

/// The shortening of a text.
fn shortened(text: usize, before: &Piece<'_>, now: &Piece<'_>) -> Option<PieceTreatment> {
    let (whole, cut) = (trim(&before.texts.get(text)?.text), &*now.texts.get(text)?.text);
    // A later change of the piece may have replaced it.
    let is_result = now.changed == Some(Reason::ResultShortened);
    let reason = if is_result { Reason::ResultShortened } else { Reason::Shortened };
    Some(PieceTreatment::Shortened { text, ends: KeptEnds::of(whole, cut), reason })
}

/// The letters of reasons.
const REASONS: &[(char, Reason)] = &[
    ('o', Reason::OverLimit),
    ('s', Reason::Shortened),
    ('b', Reason::ToolPairBroken),
    ('c', Reason::ResultCleared),
    ('h', Reason::ResultShortened),
    ('i', Reason::InputCleared),
    ('k', Reason::CallRemoved),
    ('r', Reason::ReasoningRemoved),
    ('m', Reason::ImageRemoved),
    ('e', Reason::EmptyText),
    ('n', Reason::NothingLeft),
    ('t', Reason::ReasoningPrefixChanged),
    ('p', Reason::Compacted),
    ('f', Reason::FirstTurn),
    ('x', Reason::Replaced),
];

fn letter(reason: Reason) -> char {
    REASONS.iter().find(|(_, known)| *known == reason).map_or('?', |(letter, _)| *letter)
}

fn reason(letter: char) -> Option<Reason> {
    REASONS.iter().find(|(known, _)| *known == letter).map(|(_, reason)| *reason)
}

/// `!o` stands for the whole message; otherwise the pieces are listed, as in `c0-2 -t5 s6.0.120.80 /2`. Custom markers
/// are stored separately.
impl RecordedTreatment for Treatment {
    fn to_text(&self) -> (String, Vec<&str>) {
        let mut markers = Vec::new();
        let changed = match self {
            Self::Removed(reason) => return (String::from_iter(['!', letter(*reason)]), markers),
            Self::Changed(changed) => changed,
        };
        let mut words: Vec<String> = Vec::new();
        let mut pieces = changed.pieces.iter().peekable();
        while let Some((from, treatment)) = pieces.next() {
            let mut to = *from;
            while pieces.next_if(|(at, next)| *at == to + 1 && next == treatment).is_some() {
                to += 1;
            }
            let range = if to == *from { from.to_string() } else { format!("{from}-{to}") };
            words.push(match treatment {
                PieceTreatment::Removed(reason) => format!("-{}{range}", letter(*reason)),
                PieceTreatment::ResultCleared => format!("c{range}"),
                PieceTreatment::InputCleared => format!("i{range}"),
                PieceTreatment::ImageReplaced => format!("m{range}"),
                PieceTreatment::IdRemoved => format!("d{range}"),
                PieceTreatment::Shortened { text, ends, reason } => {
                    markers.extend(ends.marker.as_deref());
                    format!("{}{range}.{text}.{}", letter(*reason), ends.to_text())
                }
            });
        }
        if changed.steps_removed > 0 {
            words.push(format!("/{}", changed.steps_removed));
        }
        (words.join(" "), markers)
    }

    fn parse(text: &str, markers: Vec<String>) -> Option<Self> {
        if let Some(whole) = text.strip_prefix('!') {
            let mut letters = whole.chars();
            return letters.next().and_then(reason).filter(|_| letters.next().is_none()).map(Self::Removed);
        }
        let mut changed = ChangedPieces::default();
        let mut markers = markers.into_iter();
        for word in text.split(' ') {
            let mut rest = word.chars();
            let first = rest.next()?;
            match first {
                '/' => changed.steps_removed = number(rest.as_str())? as u64,
                '-' => {
                    let reason = reason(rest.next()?)?;
                    changed.add_range(rest.as_str(), &PieceTreatment::Removed(reason))?;
                }
                'c' => changed.add_range(rest.as_str(), &PieceTreatment::ResultCleared)?,
                'i' => changed.add_range(rest.as_str(), &PieceTreatment::InputCleared)?,
                'm' => changed.add_range(rest.as_str(), &PieceTreatment::ImageReplaced)?,
                'd' => changed.add_range(rest.as_str(), &PieceTreatment::IdRemoved)?,
                's' | 'h' => {
                    let (range, rest) = split_once(rest.as_str(), ".")?;
                    let (text, rest) = split_once(rest, ".")?;
                    let ends = KeptEnds::parse(rest, &mut markers)?;
                    let treatment = PieceTreatment::Shortened { text: number(text)?, ends, reason: reason(first)? };
                    changed.add_range(range, &treatment)?;
                }
                _ => return None,
            }
        }
        Some(Self::Changed(changed))
    }

    fn leaves_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Removed(_), Self::Removed(_)) => true,
            (Self::Changed(one), Self::Changed(other)) => {
                let pieces = one.pieces.iter().zip(&other.pieces);
                let mut are_same =
                    pieces.map(|((at, one), (other_at, other))| at == other_at && one.leaves_same(other));
                one.pieces.len() == other.pieces.len() && are_same.all(|is_same| is_same)
            }
            _ => false,
        }
    }
}

fn number(digits: &str) -> Option<usize> {
    whole_number(digits).map(|number| number as usize)
}

/// Pieces that a message may have; longer state is rejected as foreign.
const MAX_PIECES: usize = 1 << 20;

impl ChangedPieces {
    fn add_range(&mut self, range: &str, treatment: &PieceTreatment) -> Option<()> {
        let (from, to) = split_once(range, "-").unwrap_or((range, range));
        let (from, to) = (number(from)?, number(to)?);
        if to < from || to > MAX_PIECES || self.pieces.len() > MAX_PIECES {
            return None;
        }
        self.pieces.extend((from..=to).map(|at| (at, treatment.clone())));
        Some(())
    }
}
