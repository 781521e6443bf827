//! Steps as blocks.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::content::{Audio, Block, Media, Vendor};
use crate::json;
use crate::vendors::blocks::{image, list, owned, text};
use crate::vendors::replies::stream::kind;

/// The summary of reasoning, if it consists of texts.
pub(crate) fn summary_text(step: &Map<String, Value>) -> Option<String> {
    let texts = list(step, "summary").iter().map(|part| {
        let part = part.as_object().filter(|part| kind(part) == "text" && part.len() == 2)?;
        text(part, "text")
    });
    texts.collect()
}

/// The block of an output part other than a text: an image or a recording. Another part is kept as a separate output,
/// which only its vendor can read.
pub(crate) fn read_part(part: &Map<String, Value>) -> Block<'static> {
    let mime_type = owned::<Cow<'static, str>>(part, "mime_type");
    let media = owned(part, "data").map(Media::Data).or_else(|| owned(part, "uri").map(Media::Url));
    match (kind(part), mime_type, media) {
        ("image", mime_type, Some(media)) => {
            Block::Image(Box::new(image(mime_type.unwrap_or(Cow::Borrowed("image/*")).into_owned(), media)))
        }
        ("audio", Some(mime_type), media @ Some(_)) => {
            Block::Audio(Box::new(Audio { mime_type, media, ..Audio::default() }))
        }
        _ => Block::vendor(
            Vendor::Google,
            json::object([("type", "model_output".into()), ("content", vec![Value::Object(part.clone())].into())]),
        ),
    }
}
