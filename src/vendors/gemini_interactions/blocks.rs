//! Steps as blocks.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::content::{Audio, Block, Media, Vendor};
use crate::json;
use crate::vendors::blocks::{image, list, string, text};
use crate::vendors::gemini_interactions::part::{self, Part, read};
use crate::vendors::replies::stream::kind;

/// The summary of reasoning, if it consists of texts.
pub(crate) fn summary_text(step: &Map<String, Value>) -> Option<String> {
    let texts = list(step, "summary").iter().map(|part| {
        let part = part.as_object().filter(|part| kind(part) == "text" && part.len() == 2)?;
        text(part, "text")
    });
    texts.collect()
}

/// The block of an output part: a text, an image or a recording. Another part is kept as a separate output, which only
/// its vendor can read.
pub(crate) fn read_part(part: &Map<String, Value>) -> Block<'static> {
    let Ok(class) = read(part, kind(part));
    let block = match class {
        Part::Text(text) => string(text.value).map(Block::Text),
        Part::Media(media) => media_block(media),
        Part::Result | Part::Other => None,
    };
    block.unwrap_or_else(|| {
        let content = vec![Value::Object(part.clone())];
        Block::vendor(Vendor::Google, json::object([("type", "model_output".into()), ("content", content.into())]))
    })
}

/// The block of an image or a recording with its data; a recording needs a type.
fn media_block(part: part::Media<&Value>) -> Option<Block<'static>> {
    let mime_type = string::<Cow<'static, str>>(part.mime_type);
    let media = string(part.data).map(Media::Data).or_else(|| string(part.uri).map(Media::Url))?;
    Some(match part.is_image {
        true => Block::Image(Box::new(image(mime_type.unwrap_or(Cow::Borrowed("image/*")).into_owned(), media))),
        false => Block::Audio(Box::new(Audio { mime_type: mime_type?, media: Some(media), ..Audio::default() })),
    })
}
