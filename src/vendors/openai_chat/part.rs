//! Classifies the parts of contents, in both of OpenAI's interfaces.

use crate::vendors::part::{Fields, Part, field};

/// Classifies a part of a content by its type.
///
/// # Errors
/// As [`Fields::fields`].
pub(crate) fn read<F: Fields>(part: F, kind: &str) -> Result<Part<F::Value>, F::Error> {
    Ok(match kind {
        "text" | "input_text" | "output_text" => Part::Text(field(part, "text")?),
        "refusal" => Part::Text(field(part, "refusal")?),
        _ => Part::Other,
    })
}
