//! Images and recordings: what they are, in terms that providers know.

use crate::content::{self, Block, data_url};
use crate::prompt::message::placeholder;

/// An image or a recording with its bytes or its address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Media<'m> {
    pub kind: Kind,
    pub source: Source<'m>,
    /// What it shows, in words.
    words: Option<&'m str>,
    /// The type as it was given.
    given: &'m str,
}

/// What it is; the type in the spelling that providers use, where it is one that they know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Image(Option<&'static str>),
    Audio(Option<&'static str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source<'m> {
    /// Base64.
    Data(&'m str),
    Url(&'m str),
}

/// Image types: what callers write, what providers write.
const IMAGES: [(&str, &str); 7] = [
    ("image/png", "image/png"),
    ("image/jpeg", "image/jpeg"),
    ("image/jpg", "image/jpeg"),
    ("image/gif", "image/gif"),
    ("image/webp", "image/webp"),
    ("image/heic", "image/heic"),
    ("image/heif", "image/heif"),
];

/// The same for audio.
const AUDIO: [(&str, &str); 17] = [
    ("audio/wav", "audio/wav"),
    ("audio/x-wav", "audio/wav"),
    ("audio/wave", "audio/wav"),
    ("audio/vnd.wave", "audio/wav"),
    ("audio/mp3", "audio/mp3"),
    ("audio/mpeg", "audio/mp3"),
    ("audio/aiff", "audio/aiff"),
    ("audio/x-aiff", "audio/aiff"),
    ("audio/aac", "audio/aac"),
    ("audio/ogg", "audio/ogg"),
    ("audio/opus", "audio/opus"),
    ("audio/flac", "audio/flac"),
    ("audio/x-flac", "audio/flac"),
    ("audio/mp4", "audio/mp4"),
    ("audio/m4a", "audio/m4a"),
    ("audio/x-m4a", "audio/m4a"),
    ("audio/webm", "audio/webm"),
];

/// An image whose type nobody says: those that take an address look for themselves.
pub(super) const ANY_IMAGE: &str = "image/*";

/// The type of an image: as it is given, else what its bytes or its address say.
fn image_type(given: &str, source: &Source<'_>) -> Option<&'static str> {
    let open = matches!(given, "" | ANY_IMAGE | "*/*" | "application/octet-stream");
    known(given, &IMAGES).or_else(|| match source {
        _ if !open => None,
        Source::Data(data) => type_of_data(data),
        Source::Url(url) => Some(type_of_url(url).unwrap_or(ANY_IMAGE)),
    })
}

/// What the first bytes say, in base64.
fn type_of_data(data: &str) -> Option<&'static str> {
    let of = |beginning: &str| data.starts_with(beginning);
    match () {
        () if of("iVBORw0KGgo") => Some("image/png"),
        () if of("/9j/") => Some("image/jpeg"),
        () if of("R0lGOD") => Some("image/gif"),
        // `RIFF`, four bytes of length, and `WEBP`, whose last three letters are a group of their own.
        () if of("UklGR") && data.get(12..16) == Some("RUJQ") => Some("image/webp"),
        () => None,
    }
}

fn type_of_url(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next()?;
    let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
    known(&format!("image/{extension}"), &IMAGES)
}

fn known(given: &str, table: &[(&str, &'static str)]) -> Option<&'static str> {
    let essence = given.split(';').next().unwrap_or_default().trim();
    table.iter().find(|(name, _)| name.eq_ignore_ascii_case(essence)).map(|(_, name)| *name)
}

impl<'m> Media<'m> {
    /// An image or a recording that has bytes or an address; none for other blocks.
    pub(super) fn new(block: &'m Block<'m>) -> Option<Self> {
        match block {
            Block::Image(image) => {
                let (source, given) = source(image.media.as_ref()?, &image.mime_type);
                let words = image.alt_text.as_deref();
                Some(Self { kind: Kind::Image(image_type(given, &source)), source, words, given })
            }
            Block::Audio(audio) => {
                let (source, given) = source(audio.media.as_ref()?, &audio.mime_type);
                Some(Self { kind: Kind::Audio(known(given, &AUDIO)), source, words: None, given })
            }
            _ => None,
        }
    }

    /// The text that stands in its place where it cannot be sent.
    pub(super) fn stand_in(&self) -> String {
        let name = match self.kind {
            Kind::Image(_) => "image",
            Kind::Audio(_) => "audio",
        };
        placeholder(name, self.words)
    }

    /// For a diagnostic: what it is.
    pub(super) fn description(&self) -> String {
        match self.source {
            Source::Data(_) => format!("`{}` as base64", self.given),
            Source::Url(_) => format!("`{}` at an address", self.given),
        }
    }
}

/// The text that stands in the place of an image or a recording that has neither bytes nor an address.
pub(super) fn stand_in(block: &Block<'_>) -> String {
    match block {
        Block::Image(image) => placeholder("image", image.alt_text.as_deref()),
        _ => placeholder("audio", None),
    }
}

/// Where the bytes are, and their type. A `data:` address has both in itself.
fn source<'m>(media: &'m content::Media<'m>, mime: &'m str) -> (Source<'m>, &'m str) {
    match media {
        content::Media::Data(data) => (Source::Data(data), mime),
        content::Media::Url(url) => match data_url(url) {
            Some((mime, data)) => (Source::Data(data), mime),
            None => (Source::Url(url), mime),
        },
    }
}
