//! The cost of JSON values in messages, of media in them, and of encrypted content.

use crate::content::{Vendor, VendorBlock};
use crate::json::{self, BYTES_SIZE, Document, Value};
use crate::text::split_once;
use crate::vendors::media::{Medium, is_bytes, media_in, medium_of};
use crate::vendors::price::Prices;

/// Characters of encrypted content (base64) per token. An estimate: only the provider can decode it.
const SEALED: usize = 5;
/// Bytes of a file per token, and the minimal tokens of a file: PDFs have some 3,000 tokens and 60 KB per page.
const FILE_BYTES: u64 = 20;
const MIN_FILE_TOKENS: u64 = 3_000;
/// Bytes of a text file per token.
const TEXT_BYTES: u64 = 4;

impl Prices<'_> {
    /// Tokens of a value: a string costs its text, everything else its JSON, with images, recordings and files in it at
    /// their cost.
    pub(crate) fn value(&self, value: Value<'_>) -> u64 {
        if let Some(text) = value.as_text().filter(|_| !is_bytes(value, usize::MAX)) {
            return self.text(&text);
        }
        let mut media = Vec::new();
        media_in(value, &mut |medium, bytes| media.push((medium, bytes)));
        let json = value.json();
        let (mut text, mut rest, mut tokens) = (String::new(), &*json, 0_u64);
        for (medium, bytes) in media {
            tokens = tokens.saturating_add(self.medium(medium));
            // Everything except the data is read as text.
            if let Some((before, after)) = split_once(rest, &bytes.json()) {
                text.extend([before, "\"\""]);
                rest = after;
            }
        }
        text.push_str(rest);
        let is_all_bytes = text == "\"\"" && tokens > 0;
        tokens.saturating_add(if is_all_bytes { 0 } else { self.text(&text) })
    }

    /// Tokens of a part other than text, call or result: of a medium its cost, of another part its JSON.
    pub(crate) fn unknown_part(&self, part: Value<'_>) -> u64 {
        match part.plain_object().and_then(medium_of) {
            Some(medium) => self.medium(medium),
            None => self.value(part),
        }
    }

    /// Tokens of encrypted content.
    pub(crate) fn sealed(&self, value: Option<Value<'_>>) -> u64 {
        let len = value.and_then(Value::as_text).map_or(0, |text| text.len());
        len.div_ceil(SEALED) as u64
    }

    /// Tokens of a compaction: its summary and its encrypted content.
    pub(crate) fn compaction(&self, block: Value<'_>) -> u64 {
        let field = |name| Some(block.plain_object()?.last(name)?).filter(|value| !value.is_null());
        let summary = field("content").map_or(0, |summary| self.value(summary));
        summary.saturating_add(self.sealed(field("encrypted_content")))
    }

    /// Tokens of a block, an item or a part that only its vendor can read.
    pub(crate) fn vendor_block(&self, block: &VendorBlock<'_>) -> u64 {
        if block.phase().is_some() {
            return 0;
        }
        let json = json::text(&*block.value);
        let Ok(document) = Document::read(json.as_bytes(), &[]) else { return 0 };
        let document: &Document<'_> = &document;
        match block.vendor {
            _ if block.is_of_compaction() => self.compaction(document.root()),
            Vendor::OpenAi => self.value(document.root()),
            Vendor::Anthropic | Vendor::Google => self.unknown_part(document.root()),
        }
    }

    /// Tokens of an image, by the size in its data.
    pub(crate) fn image_of(&self, source: Option<Value<'_>>) -> u64 {
        self.image.tokens(image_size(source))
    }

    /// Tokens of an image, a recording or a file. The cost of files is not published: that of their text if they are
    /// one, else by size.
    pub(crate) fn medium(&self, medium: Medium<'_>) -> u64 {
        match medium {
            Medium::Image(source) => self.image_of(source),
            Medium::File(source, is_text) => file_tokens(source.and_then(bytes_of), is_text),
            Medium::Text(text) => self.value(text),
            Medium::Parts(parts) => self.parts(parts),
        }
    }

    /// Tokens of a text, or of a list of parts.
    fn parts(&self, parts: Value<'_>) -> u64 {
        let Some(list) = parts.as_list() else { return self.value(parts) };
        list.map(|part| self.part(part)).fold(0, u64::saturating_add)
    }

    /// Tokens of a part, or of a text in its place.
    pub(crate) fn part(&self, part: Value<'_>) -> u64 {
        let object = part.plain_object();
        let text = object.and_then(|part| part.last("text")).filter(|text| text.is_text());
        match object.and_then(medium_of) {
            Some(medium) => self.medium(medium),
            None => self.value(text.unwrap_or(part)),
        }
    }
}

/// Pixels of an image, as its bytes state.
pub(crate) fn image_size(source: Option<Value<'_>>) -> Option<(u32, u32)> {
    let source = source?;
    let head = || source.as_object()?.get("\0head").ok()??.as_text();
    crate::tokens::images::size(&source.as_text().or_else(head)?)
}

/// The size of a file in bytes; `None` if only its URL is known.
fn bytes_of(source: Value<'_>) -> Option<u64> {
    match source.as_text() {
        Some(text) => is_bytes(source, 1).then_some(text.len() as u64 / 4 * 3),
        None => source.as_object()?.get(BYTES_SIZE).ok()??.safe_integer().ok(),
    }
}

fn file_tokens(bytes: Option<u64>, is_text: bool) -> u64 {
    match bytes {
        Some(bytes) if is_text => bytes.div_ceil(TEXT_BYTES),
        bytes => (bytes.unwrap_or(0) / FILE_BYTES).max(MIN_FILE_TOKENS),
    }
}
