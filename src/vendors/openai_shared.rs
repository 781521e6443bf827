//! Shared by OpenAI's two interfaces.

use crate::error::DiagnosticCode;
use crate::json::JsonWriter;
use crate::vendors::bodies::media::{ANY_IMAGE, Kind, Media, Source};
use crate::vendors::bodies::normalize::ToolResult;
use crate::vendors::bodies::sink::DiagnosticSink;

/// The image types that OpenAI supports.
pub(crate) fn is_image(mime: &str) -> bool {
    matches!(mime, "image/png" | "image/jpeg" | "image/gif" | "image/webp" | ANY_IMAGE)
}

/// The prefix of a failed tool's text, since there is no field for the failure.
pub(crate) fn error_text(
    result: &ToolResult<'_>,
    message: Option<usize>,
    provider: &str,
    sink: &mut DiagnosticSink<'_>,
) -> &'static str {
    if !result.is_error {
        return "";
    }
    let text =
        format!("{provider} has no field for the failure of `{}`; its result begins with `Error: `", result.name);
    sink.info(DiagnosticCode::BodyErrorAsText, message, text);
    "Error: "
}

/// A field with a URL, or with the data as a `data:` URL.
pub(crate) fn url_field(json: &mut JsonWriter, name: &str, media: &Media<'_>) {
    match (media.source, media.kind) {
        (Source::Url(url), _) => json.text_field(name, url),
        (Source::Data(data), Kind::Image(mime) | Kind::Audio(mime)) => {
            json.text_field(name, ["data:", mime.unwrap_or_default(), ";base64,", data].as_slice());
        }
    }
}
