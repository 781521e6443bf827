//! Formats that a host registers, next to the built-in ones (docs/session-formats.md).

use std::borrow::Cow;
use std::fmt;

use super::format::{BlobSource, Format};
use super::json_array;
use crate::error::{Code, Error, Result};

/// The format of results that are narratives and artifacts, not conversations.
pub(crate) const MARKDOWN: &str = "markdown";

/// How deltas of a custom format are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Join {
    /// By appending bytes.
    Bytes,
    /// By appending bytes, with a newline between two deltas if it is missing. A format like `gemini-v1` is joined as
    /// `gemini-v1` is.
    Lines,
    /// By splicing the items of CBOR arrays under one definite-length header.
    CborArray,
    /// By splicing the items of JSON arrays into one array.
    JsonArray,
}

impl Join {
    pub(crate) const NAMES: &'static [(&'static str, Self)] = &[
        ("bytes", Self::Bytes),
        ("lines", Self::Lines),
        ("cbor-array", Self::CborArray),
        ("json-array", Self::JsonArray),
    ];

    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, join)| *join == self).map_or("", |(name, _)| name)
    }
}

/// How deltas of any format are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JoinRule {
    Bytes,
    Lines,
    /// Like lines, each of which is a JSON object.
    Records,
    CborArray,
    JsonArray,
    Document(Format),
    Gemini,
}

impl JoinRule {
    /// Whether deltas are joined by appending bytes.
    pub(crate) const fn is_appended(self) -> bool {
        matches!(self, Self::Bytes | Self::Lines | Self::Records)
    }
}

impl Format {
    /// How deltas of the format are joined.
    pub(crate) const fn rule(self) -> JoinRule {
        match self {
            Self::GeminiV1 => JoinRule::Gemini,
            _ if self.is_cbor() => JoinRule::CborArray,
            _ if self.is_document() => JoinRule::Document(self),
            _ => JoinRule::Records,
        }
    }
}

/// A format that is not built in.
///
/// ```
/// use ctxweave::commits::formats::{CustomFormat, Format, Join};
/// let format = CustomFormat::new("acme-v2", Join::Lines, Some(Format::ClaudeCodeV1))?;
/// assert_eq!(format.name(), "acme-v2");
/// # Ok::<(), ctxweave::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomFormat {
    name: String,
    join: Join,
    like: Option<Format>,
}

impl CustomFormat {
    /// A format of this name. `like` names the built-in format whose reader applies to joined deltas; for a JSON array
    /// and a line-based format, to its items. Without it, deltas are joined but not read.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] for a name that is blank, built in or `markdown`, the format of narratives; and for a
    /// reader that cannot read what `join` yields.
    pub fn new(name: &str, join: Join, like: Option<Format>) -> Result<Self> {
        let invalid = |path: &str, message: String| Err(Error::new(Code::InvalidInput, message).with("path", path));
        if name.trim().is_empty() {
            return invalid("name", "`name` is blank; give the name that records have in `format`".to_owned());
        }
        if Format::from_name(name).is_some() || name == MARKDOWN {
            return invalid("name", format!("`{name}` is built in; give the custom format another name"));
        }
        let fits = |like: Format| match join {
            Join::Bytes => like.is_appended(),
            Join::Lines => like.is_appended() || like == Format::GeminiV1,
            Join::CborArray => like.is_cbor(),
            Join::JsonArray => like.is_appended() || like.is_document(),
        };
        if let Some(like) = like.filter(|like| !fits(*like)) {
            let message = format!("`{like}` cannot read deltas joined as `{}`; change `join` or `like`", join.name());
            return invalid("like", message);
        }
        Ok(Self { name: name.to_owned(), join, like })
    }

    /// The name in the field `format` of records.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How deltas are joined.
    pub fn join(&self) -> Join {
        self.join
    }

    /// The definition, for the cache keys of results.
    pub(crate) fn key(&self) -> [&str; 4] {
        ["custom", &self.name, self.join.name(), self.like.map_or("", Format::name)]
    }

    /// The built-in format whose reader applies.
    pub fn like(&self) -> Option<Format> {
        self.like
    }
}

/// A known format: built in, or registered by the host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NamedFormat<'f> {
    BuiltIn(Format),
    Custom(&'f CustomFormat),
}

impl<'f> NamedFormat<'f> {
    /// The format of this name.
    pub(crate) fn find(name: &str, custom: &'f [CustomFormat]) -> Option<Self> {
        let built_in = Format::from_name(name).map(Self::BuiltIn);
        built_in.or_else(|| custom.iter().find(|format| format.name == name).map(Self::Custom))
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::BuiltIn(format) => format.name(),
            Self::Custom(format) => &format.name,
        }
    }

    pub(crate) fn rule(self) -> JoinRule {
        match self {
            Self::BuiltIn(format) => format.rule(),
            Self::Custom(format) => match format.join {
                Join::Bytes => JoinRule::Bytes,
                Join::Lines => format.like.map_or(JoinRule::Lines, Format::rule),
                Join::CborArray => JoinRule::CborArray,
                Join::JsonArray => JoinRule::JsonArray,
            },
        }
    }

    /// The format whose reader applies to [`Self::readable`] bytes.
    pub(crate) fn reader(self) -> Option<Format> {
        match self {
            Self::BuiltIn(format) => Some(format),
            Self::Custom(format) => format.like,
        }
    }

    /// The format, if it is built in.
    pub(crate) fn built_in(self) -> Option<Format> {
        match self {
            Self::BuiltIn(format) => Some(format),
            Self::Custom(_) => None,
        }
    }

    /// Whether parts of a file, as the reader's format splits it, are deltas of this format.
    pub(crate) fn is_split_like_reader(self) -> bool {
        match self {
            Self::BuiltIn(_) => true,
            Self::Custom(format) => {
                format.like.is_some_and(|like| format.join == Join::Bytes || self.rule() == like.rule())
            }
        }
    }

    /// A conversation in the form that [`Self::reader`] accepts.
    pub(crate) fn readable<'b>(self, bytes: &'b [u8], source: BlobSource<'_>) -> Result<Cow<'b, [u8]>> {
        match self {
            Self::Custom(CustomFormat { name, join: Join::JsonArray, like: Some(like) }) if like.is_appended() => {
                json_array::to_lines(bytes, name, source).map(Cow::Owned)
            }
            _ => Ok(Cow::Borrowed(bytes)),
        }
    }
}

impl fmt::Display for NamedFormat<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
