//! Classifies the parts of a step's content.

use crate::vendors::part::{Field, Fields, field};

/// A classified part.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<V> {
    Text(Field<V>),
    /// The result of a function, which older clients put into the user's step.
    Result,
    /// An image or a recording, with the place of its data.
    Media(Media<V>),
    /// A part that is kept unchanged.
    Other,
}

/// An image or a recording.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Media<V> {
    pub is_image: bool,
    pub mime_type: Option<V>,
    pub data: Option<V>,
    pub uri: Option<V>,
}

/// Classifies a part by its type.
///
/// # Errors
/// As [`Fields::fields`].
pub(crate) fn read<F: Fields>(part: F, kind: &str) -> Result<Part<F::Value>, F::Error> {
    Ok(match kind {
        "text" => Part::Text(field(part, "text")?),
        "function_result" => Part::Result,
        "image" | "audio" => {
            let [mime_type, data, uri] = part.fields(["mime_type", "data", "uri"])?;
            Part::Media(Media { is_image: kind == "image", mime_type, data, uri })
        }
        _ => Part::Other,
    })
}
