//! Artifact refs: the BLAKE3 hash of a blob, and its short form (docs/commits.md).

use std::fmt;

use crate::error::{Code, Error, Result};

/// The prefix of a full ref; 64 hex digits follow.
const FULL_PREFIX: &str = "blake3:";

/// The prefix of a short ref; the first 12 hex digits of the hash follow.
const SHORT_PREFIX: &str = "art-";

const SHORT_DIGITS: usize = 12;

/// The ref of a blob: `blake3:` and 64 hex digits.
///
/// ```
/// assert_eq!(
///     ctxweave::commits::artifact_ref(b""),
///     "blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
/// );
/// ```
pub fn artifact_ref(blob: &[u8]) -> String {
    full(&blake3::hash(blob))
}

fn full(hash: &blake3::Hash) -> String {
    format!("{FULL_PREFIX}{}", hash.to_hex())
}

/// The short form of a full ref: `art-` and 12 hex digits.
///
/// # Errors
/// [`Code::InvalidInput`] for an invalid ref.
pub fn short_ref(artifact_ref: &str) -> Result<String> {
    match RefForm::of(artifact_ref) {
        Some(RefForm::Full(digits)) => Ok(format!("{SHORT_PREFIX}{}", digits.get(..SHORT_DIGITS).unwrap_or(digits))),
        Some(RefForm::Short(_)) => Ok(artifact_ref.to_owned()),
        Some(RefForm::Foreign(_)) | None => Err(invalid_ref(artifact_ref, "artifact_ref", "")),
    }
}

/// A full ref with its prefix; any other ref unchanged.
pub(crate) fn normalized(artifact_ref: &str) -> String {
    match RefForm::of(artifact_ref) {
        Some(form @ RefForm::Full(_)) => form.full_prefix(),
        _ => artifact_ref.to_owned(),
    }
}

/// Bytes of the longest ref of another store.
const MAX_FOREIGN_REF_BYTES: usize = 512;

/// The forms of a ref: two of this crate, with their hex digits, and those of other stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefForm<'r> {
    Full(&'r str),
    Short(&'r str),
    /// A scheme as in URLs, `:` and a text; or `art-` and a text that is not 12 digits. Only its store can verify it.
    Foreign(&'r str),
}

impl<'r> RefForm<'r> {
    /// Reads a ref, whose digits are lower case.
    pub(crate) fn of(text: &'r str) -> Option<Self> {
        let hex = |digits: &str| digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        // 64 digits alone are a full ref too.
        let full = text.strip_prefix(FULL_PREFIX).unwrap_or(text);
        if full.len() == 64 && hex(full) {
            return Some(Self::Full(full));
        }
        if let Some(digits) =
            text.strip_prefix(SHORT_PREFIX).filter(|digits| digits.len() == SHORT_DIGITS && hex(digits))
        {
            return Some(Self::Short(digits));
        }
        let (scheme, rest) = text.split_once(if text.starts_with(SHORT_PREFIX) { '-' } else { ':' })?;
        let is_foreign = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
            && !scheme.eq_ignore_ascii_case("blake3")
            && !rest.is_empty()
            && text.len() <= MAX_FOREIGN_REF_BYTES
            && rest.bytes().all(|byte| byte.is_ascii_graphic());
        is_foreign.then_some(Self::Foreign(text))
    }

    /// Whether the ref may be a damaged one of this crate, so that a blob with another hash must not be used unverified.
    pub(crate) fn may_be_short(self) -> bool {
        matches!(self, Self::Short(_)) || matches!(self, Self::Foreign(text) if text.starts_with(SHORT_PREFIX))
    }

    /// The prefix of the full refs that it matches; a ref of another store unchanged.
    pub(crate) fn full_prefix(self) -> String {
        match self {
            Self::Full(digits) | Self::Short(digits) => format!("{FULL_PREFIX}{digits}"),
            Self::Foreign(text) => text.to_owned(),
        }
    }

    /// Whether it matches this full ref.
    pub(crate) fn names(self, full_ref: &str) -> bool {
        let found = full_ref.strip_prefix(FULL_PREFIX).unwrap_or_default();
        match self {
            Self::Full(digits) => found == digits,
            Self::Short(digits) => found.starts_with(digits),
            Self::Foreign(_) => false,
        }
    }
}

/// The error for an invalid ref; `advice` continues the list of valid forms.
pub(crate) fn invalid_ref(text: &str, path: &str, advice: &str) -> Error {
    let message = format!(
        "`{path}` is `{text}`; it must be `blake3:` and 64 hex digits, the digits alone, or `art-` and 12{advice}"
    );
    Error::new(Code::InvalidInput, message).with("path", path).with("artifactRef", text)
}

/// Hashes bytes a part at a time.
#[derive(Clone, Default)]
pub(crate) struct ArtifactHasher(blake3::Hasher);

impl ArtifactHasher {
    pub(crate) fn update(&mut self, part: &[u8]) {
        self.0.update(part);
    }

    pub(crate) fn artifact_ref(&self) -> String {
        full(&self.0.finalize())
    }
}

impl fmt::Debug for ArtifactHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ArtifactHasher")
    }
}

#[cfg(test)]
#[path = "../../tests/unit/commits/artifact.rs"]
mod tests;
