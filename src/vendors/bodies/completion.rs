//! A plain completion: the document is the prompt.

use super::body::Body;
use super::sink::DiagnosticSink;

pub(crate) fn write(body: &mut Body<'_>, system: Option<&str>, document: &str, sink: &mut DiagnosticSink<'_>) {
    body.model();
    let json = body.field("prompt");
    match system {
        // There is no separate field for it; it begins the document.
        Some(system) => json.string([system, "\n\n", document].as_slice()),
        None => json.string(document),
    }
    body.max_tokens("max_tokens", "", sink);
    body.settings();
}
