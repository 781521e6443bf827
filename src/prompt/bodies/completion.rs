//! A plain completion: the document is the prompt.

use super::Body;

pub(super) fn write(body: &mut Body<'_>, system: Option<&str>, document: &str) {
    body.model();
    let json = body.field("prompt");
    match system {
        // There is no field for it; it begins the document.
        Some(system) => json.strings(&[system, "\n\n", document]),
        None => json.string(document),
    }
    body.max_tokens("max_tokens");
    body.settings();
}
