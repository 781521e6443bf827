//! Ids of commits (docs/commits.md).

/// The context string of BLAKE3's derive-key mode. It must never change, since all ids depend on it.
pub const ID_CONTEXT: &str = "ctxweave 2026-11-22 context commit id, version 1";

pub(crate) const ID_PREFIX: &str = "ctx-";

/// Bytes of the longest id.
const LONGEST: usize = 256;

/// The id of a commit: `ctx-` and 16 hex digits, the first 8 bytes of BLAKE3 in derive-key mode with [`ID_CONTEXT`]
/// over parent, artifact ref, created_at and template, each preceded by its length in bytes as a little-endian u64. A
/// missing parent or template is the empty string.
pub fn commit_id(parent: Option<&str>, artifact_ref: &str, created_at: &str, template: Option<&str>) -> String {
    let fields = [parent.unwrap_or_default(), artifact_ref, created_at, template.unwrap_or_default()];
    let key = derive(ID_CONTEXT, fields);
    format!("{ID_PREFIX}{}", key.get(..16).unwrap_or(&key))
}

/// The hex digits of a key derived from length-prefixed fields.
pub(crate) fn derive<'f>(context: &str, fields: impl IntoIterator<Item = &'f str>) -> String {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    for field in fields {
        hasher.update(&(field.len() as u64).to_le_bytes());
        hasher.update(field.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// Whether a text is a valid id, of any tool: `ctx-` and visible characters.
pub(crate) fn is_id(text: &str) -> bool {
    let visible = |rest: &str| !rest.is_empty() && rest.chars().all(|ch| !ch.is_whitespace() && !ch.is_control());
    text.len() <= LONGEST && text.strip_prefix(ID_PREFIX).is_some_and(visible)
}

/// Whether an id has the form of those from [`commit_id`].
pub(crate) fn is_own_form(id: &str) -> bool {
    let hex = |rest: &str| rest.len() == 16 && rest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    id.strip_prefix(ID_PREFIX).is_some_and(hex)
}

#[cfg(test)]
#[path = "../../tests/unit/commits/id.rs"]
mod tests;
