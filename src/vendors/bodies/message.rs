//! The object around the content of a message.

use crate::content::Role;
use crate::json::JsonWriter;

/// Writes `{"role":"…","content":…}`, whose content `write` has to write; for all vendors except Gemini.
pub(crate) fn write_message(json: &mut JsonWriter, role: Role, write: impl FnOnce(&mut JsonWriter)) {
    // Written without escaping, for speed.
    json.raw(match role {
        Role::System => r#"{"role":"system","content":"#,
        Role::Developer => r#"{"role":"developer","content":"#,
        Role::User | Role::Tool => r#"{"role":"user","content":"#,
        Role::Assistant => r#"{"role":"assistant","content":"#,
    });
    write(json);
    json.close_object();
}
