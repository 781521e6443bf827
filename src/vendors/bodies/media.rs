//! Images and recordings in the terms of providers.

use crate::content::{self, Block, data_url};
use crate::vendors::message::placeholder;

/// An image or a recording with its bytes or URL.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Media<'m> {
    pub kind: Kind,
    pub source: Source<'m>,
    words: Option<&'m str>,
    /// The type as given.
    given: &'m str,
}

/// The type in the spelling of providers, if known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Image(Option<&'static str>),
    Audio(Option<&'static str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source<'m> {
    Data(&'m str),
    Url(&'m str),
}

/// Image types, as callers and as providers spell them.
const IMAGES: [(&str, &str); 7] = [
    ("image/png", "image/png"),
    ("image/jpeg", "image/jpeg"),
    ("image/jpg", "image/jpeg"),
    ("image/gif", "image/gif"),
    ("image/webp", "image/webp"),
    ("image/heic", "image/heic"),
    ("image/heif", "image/heif"),
];

/// Audio types, as callers and as providers spell them.
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

/// An image of unknown type: providers that accept a URL detect it.
pub(crate) const ANY_IMAGE: &str = "image/*";

/// The type of an image: by its bytes, else as given, else by its URL.
fn image_type(given: &str, source: &Source<'_>) -> Option<&'static str> {
    let open = matches!(given, "" | ANY_IMAGE | "*/*" | "application/octet-stream");
    let known = known(given, &IMAGES);
    match source {
        Source::Data(data) if open || known.is_some() => type_of_data(data).or(known),
        Source::Url(url) if open => Some(type_of_url(url).unwrap_or(ANY_IMAGE)),
        _ => known,
    }
}

/// The type by the first bytes, in base64.
fn type_of_data(data: &str) -> Option<&'static str> {
    let of = |beginning: &str| data.starts_with(beginning);
    match () {
        () if of("iVBORw0KGgo") => Some("image/png"),
        () if of("/9j/") => Some("image/jpeg"),
        () if of("R0lGOD") => Some("image/gif"),
        // `RIFF`, four bytes of length, and `WEBP`, whose last three letters are one base64 group.
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
    /// An image or a recording with bytes or a URL.
    pub(crate) fn new(block: &'m Block<'m>) -> Option<Self> {
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

    /// The type by its bytes, if it differs from the given one.
    pub(crate) fn retyped(&self) -> Option<&'static str> {
        let Kind::Image(kind) = self.kind else { return None };
        kind.filter(|kind| known(self.given, &IMAGES).is_some_and(|given| given != *kind))
    }

    /// The placeholder for media that cannot be sent.
    pub(crate) fn stand_in(&self) -> String {
        let name = match self.kind {
            Kind::Image(_) => "image",
            Kind::Audio(_) => "audio",
        };
        placeholder(name, self.words)
    }

    /// For diagnostics.
    pub(crate) fn description(&self) -> String {
        match self.source {
            Source::Data(_) => format!("`{}` as base64", self.given),
            Source::Url(_) => format!("`{}` at an address", self.given),
        }
    }
}

/// The placeholder for an image or a recording without data and URL.
pub(crate) fn stand_in(block: &Block<'_>) -> String {
    match block {
        Block::Image(image) => placeholder("image", image.alt_text.as_deref()),
        _ => placeholder("audio", None),
    }
}

/// The source and type of media; a `data:` URL has both.
fn source<'m>(media: &'m content::Media<'m>, mime: &'m str) -> (Source<'m>, &'m str) {
    match media {
        content::Media::Data(data) => (Source::Data(data), mime),
        content::Media::Url(url) => match data_url(url) {
            Some((mime, data)) => (Source::Data(data), mime),
            None => (Source::Url(url), mime),
        },
    }
}
