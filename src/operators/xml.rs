//! XML as checked events with places.
//!
//! quick-xml splits the text and is lenient. The other rules of the standard are checked here, so that every conforming
//! reader reads a template the same. A DTD is rejected, and with it every entity but the five predefined ones
//! (docs/operators.md).

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::errors::{IllFormedError, SyntaxError};
use quick_xml::events::Event;
use quick_xml::events::attributes::{AttrError, Attributes};

use crate::error::{Code, Error, Result};
use crate::limits::{self, Limits};
use crate::maps::SortedSet;

const BOM: char = '\u{FEFF}';

/// Whether the root element of a text is a task. The rest is not checked.
pub(crate) fn is_template(source: &str) -> bool {
    let mut reader = Reader::from_str(source.strip_prefix(BOM).unwrap_or(source));
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) => return tag.name().as_ref() == "task",
            Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_)) => {}
            Ok(Event::Text(text)) if text.chars().all(is_white) => {}
            _ => return false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextPosition {
    /// The line, from 1.
    pub(super) line: u32,
    /// The column in UTF-16 code units, from 1.
    pub(super) column: u32,
    /// UTF-16 code units before it.
    pub(super) units: usize,
}

/// Converts byte offsets to places. Ascending offsets cost one pass over the text.
#[derive(Clone, Debug)]
struct Places<'a> {
    source: &'a str,
    offset: usize,
    place: TextPosition,
}

impl<'a> Places<'a> {
    fn new(source: &'a str) -> Self {
        Self { source, offset: 0, place: TextPosition { line: 1, column: 1, units: 0 } }
    }

    fn at(&mut self, offset: usize) -> TextPosition {
        if offset < self.offset {
            *self = Self::new(self.source);
        }
        let passed = self.source.get(self.offset..offset).unwrap_or_default();
        let before = self.source.get(..self.offset).and_then(|text| text.chars().next_back());
        if passed.is_ascii() && !passed.contains('\r') && before != Some('\r') {
            self.pass_plain(passed);
        } else {
            self.pass(passed, before);
        }
        self.offset = self.offset.saturating_add(passed.len());
        self.place
    }

    /// Passes plain text: every byte is one unit, and lines end with LF.
    fn pass_plain(&mut self, passed: &str) {
        let units = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.place.units = self.place.units.saturating_add(passed.len());
        match passed.rsplit_once('\n') {
            None => self.place.column = self.place.column.saturating_add(units(passed)),
            Some((lines, last)) => {
                let ended = lines.bytes().filter(|byte| *byte == b'\n').count().saturating_add(1);
                self.place.line = self.place.line.saturating_add(u32::try_from(ended).unwrap_or(u32::MAX));
                self.place.column = units(last).saturating_add(1);
            }
        }
    }

    /// Passes any text; `before` is the character before it.
    fn pass(&mut self, passed: &str, mut before: Option<char>) {
        for ch in passed.chars() {
            match ch {
                // The LF of a CRLF has already been counted.
                '\n' if before == Some('\r') => {}
                '\n' | '\r' => {
                    self.place.line = self.place.line.saturating_add(1);
                    self.place.column = 1;
                }
                BOM if self.place.units == 0 => {}
                _ => self.place.column = self.place.column.saturating_add(if ch.len_utf16() == 2 { 2 } else { 1 }),
            }
            self.place.units = self.place.units.saturating_add(ch.len_utf16());
            before = Some(ch);
        }
    }
}

pub(super) fn place_of(source: &str, offset: usize) -> TextPosition {
    Places::new(source).at(offset)
}

/// An attribute with resolved references.
#[derive(Clone, Debug)]
pub(super) struct Attribute<'a> {
    pub(super) name: &'a str,
    pub(super) value: Cow<'a, str>,
    pub(super) place: TextPosition,
}

#[derive(Clone, Debug)]
pub(super) struct Tag<'a> {
    pub(super) name: &'a str,
    pub(super) attributes: Vec<Attribute<'a>>,
    pub(super) place: TextPosition,
    /// The byte of its `<`.
    pub(super) start: usize,
    /// The byte after its `>`.
    pub(super) end: usize,
    /// Whether the tag is `<name/>`.
    pub(super) empty: bool,
}

/// The next event. Comments and processing instructions are skipped.
#[derive(Clone, Debug)]
pub(super) enum Item<'a> {
    /// A start tag; `<name/>` is one too, and its end follows.
    Open(Tag<'a>),
    /// An end tag: the byte after its `>`, or after that of `<name/>`.
    Close { end: usize },
    /// Text, or the character of a reference; its place is that of the first character that is not white space.
    Text { text: Cow<'a, str>, place: TextPosition },
    /// The end of the text.
    End,
}

pub(super) struct Xml<'a> {
    source: &'a str,
    reader: Reader<&'a [u8]>,
    /// Bytes before the reader's input.
    base: usize,
    places: Places<'a>,
    /// The open start tags: name and byte.
    open: Vec<(&'a str, usize)>,
    elements: usize,
    seen_root: bool,
    limits: Limits,
}

impl<'a> Xml<'a> {
    /// Starts with a text, after checking that XML allows all its characters.
    pub(super) fn new(source: &'a str, limits: Limits) -> Result<Self> {
        limits::check("xmlBytes", source.len(), limits.xml_bytes)?;
        let body = source.strip_prefix(BOM).unwrap_or(source);
        let mut reader = Reader::from_str(body);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        // Checked here, to get the position of a finding.
        config.check_comments = false;
        let xml = Self {
            source,
            reader,
            base: source.len().saturating_sub(body.len()),
            places: Places::new(source),
            open: Vec::new(),
            elements: 0,
            seen_root: false,
            limits,
        };
        // Most templates are plain ASCII, which is quick to check.
        let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r');
        let forbidden =
            if body.bytes().all(plain) { None } else { body.char_indices().find(|(_, ch)| !is_allowed(*ch)) };
        let Some((at, ch)) = forbidden else { return Ok(xml) };
        let message = format!("the character U+{:04X} is not allowed in XML; remove it", u32::from(ch));
        Err(xml.wrong(at.saturating_add(xml.base), "character", message))
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'a str {
        self.source.get(start..end).unwrap_or_default()
    }

    pub(super) fn place(&mut self, offset: usize) -> TextPosition {
        self.places.at(offset)
    }

    /// The error at a byte offset.
    pub(super) fn wrong(&self, offset: usize, reason: &str, message: impl AsRef<str>) -> Error {
        let place = self.places.clone().at(offset);
        let message = format!("{} (line {}, column {})", message.as_ref(), place.line, place.column);
        Error::new(Code::InvalidXml, message)
            .with("reason", reason)
            .with("line", place.line)
            .with("column", place.column)
    }

    fn check(&self, limit: &str, value: usize, max: u32, offset: usize) -> Result<()> {
        limits::check(limit, value, max).map_err(|error| {
            let place = self.places.clone().at(offset);
            error.with("line", place.line).with("column", place.column)
        })
    }

    fn offset(&self) -> usize {
        usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX).saturating_add(self.base)
    }

    /// The next event.
    pub(super) fn next(&mut self) -> Result<Item<'a>> {
        loop {
            let start = self.offset();
            let event = self.reader.read_event();
            let end = self.offset();
            let event = event.map_err(|error| self.syntax(&error, start))?;
            match event {
                Event::Start(_) | Event::Empty(_) => return self.start_tag(start, end).map(Item::Open),
                Event::End(_) => {
                    self.open.pop();
                    return Ok(Item::Close { end });
                }
                Event::Text(_) => {
                    if let Some(item) = self.text(start, end)? {
                        return Ok(item);
                    }
                }
                Event::CData(_) => {
                    self.inside(start, "a CDATA section")?;
                    let text = self.slice(start.saturating_add(9), end.saturating_sub(3));
                    return Ok(Item::Text { text: Cow::Borrowed(text), place: self.places.at(start) });
                }
                Event::GeneralRef(_) => {
                    self.inside(start, "a reference")?;
                    let name = self.slice(start.saturating_add(1), end.saturating_sub(1));
                    let ch = self.reference(name, start)?;
                    return Ok(Item::Text { text: Cow::Owned(ch.to_string()), place: self.places.at(start) });
                }
                Event::Comment(_) => {
                    let text = self.slice(start.saturating_add(4), end.saturating_sub(2));
                    if let Some(at) = text.find("--") {
                        let at = at.saturating_add(start).saturating_add(4);
                        let message = "`--` is not allowed in a comment; remove a hyphen";
                        return Err(self.wrong(at, "comment", message));
                    }
                }
                Event::PI(_) => self.instruction(start, end)?,
                Event::Decl(_) => self.declaration(start, end)?,
                Event::DocType(_) => return Err(self.doctype(start)),
                Event::Eof => return self.end(end),
            }
        }
    }

    /// Skips to the end of the element whose start tag was the last item; returns the byte after it.
    pub(super) fn skip(&mut self) -> Result<usize> {
        let depth = self.open.len();
        loop {
            match self.next()? {
                Item::Close { end } if self.open.len() < depth => return Ok(end),
                Item::End => return Ok(self.source.len()),
                _ => {}
            }
        }
    }

    fn end(&self, end: usize) -> Result<Item<'a>> {
        match self.open.last() {
            Some((name, at)) => {
                Err(self.wrong(*at, "unclosed", format!("`<{name}>` is never closed; add `</{name}>`")))
            }
            None if !self.seen_root => {
                Err(self.wrong(end, "structure", "no element found; a template is one `<task>`"))
            }
            None => Ok(Item::End),
        }
    }

    fn start_tag(&mut self, start: usize, end: usize) -> Result<Tag<'a>> {
        self.elements = self.elements.saturating_add(1);
        self.check("xmlElements", self.elements, self.limits.xml_elements, start)?;
        self.check("xmlDepth", self.open.len().saturating_add(1), self.limits.xml_depth, start)?;
        if self.open.is_empty() && self.seen_root {
            let message = "a second element follows the root; a template has one root, `<task>`";
            return Err(self.wrong(start, "structure", message));
        }
        self.seen_root = true;
        let empty = self.slice(end.saturating_sub(2), end) == "/>";
        let inside = self.slice(start.saturating_add(1), end.saturating_sub(if empty { 2 } else { 1 }));
        let name = inside.split(is_white).next().unwrap_or_default();
        if !is_name(name) {
            return Err(self.wrong(start, "name", format!("`{}` is not a valid element name", shown(name))));
        }
        let place = self.places.at(start);
        let attributes = self.attributes(start.saturating_add(1), inside, name.len())?;
        self.open.push((name, start));
        Ok(Tag { name, attributes, place, start, end, empty })
    }

    /// The attributes in a tag whose inside begins at byte `base`.
    fn attributes(&mut self, base: usize, inside: &'a str, name_len: usize) -> Result<Vec<Attribute<'a>>> {
        let mut found: Vec<Attribute<'a>> = Vec::new();
        let mut names = SortedSet::new();
        // The position in `inside` of the next attribute. quick-xml has checked the skipped text.
        let mut at = name_len;
        for attribute in Attributes::new(inside, name_len).with_checks(false) {
            let attribute = attribute.map_err(|error| self.bad_attribute(base, &error))?;
            let key = skip_white(inside, at);
            let key_end = key.saturating_add(attribute.key.0.len());
            let value = skip_white(inside, skip_white(inside, key_end).saturating_add(1)).saturating_add(1);
            let value_end = value.saturating_add(attribute.value.len());
            let name = inside.get(key..key_end).unwrap_or_default();
            let offset = base.saturating_add(key);
            if key == at {
                let message = format!("white space is missing before the attribute `{}`", shown(name));
                return Err(self.wrong(offset, "syntax", message));
            }
            if !is_name(name) {
                let message = format!("`{}` is not a valid attribute name", shown(name));
                return Err(self.wrong(offset, "name", message));
            }
            if !names.insert(name) {
                let message = format!("the attribute `{}` occurs twice; remove one", shown(name));
                return Err(self.wrong(offset, "duplicate_attribute", message));
            }
            self.check("xmlAttributes", names.len(), self.limits.xml_attributes, offset)?;
            let place = self.places.at(offset);
            let raw = inside.get(value..value_end).unwrap_or_default();
            found.push(Attribute { name, value: self.value(raw, base.saturating_add(value))?, place });
            at = value_end.saturating_add(1);
        }
        Ok(found)
    }

    fn bad_attribute(&self, base: usize, error: &AttrError) -> Error {
        let (at, message) = match error {
            AttrError::ExpectedEq(at) => (*at, "an attribute is written `name=\"value\"`; `=` is missing"),
            AttrError::ExpectedValue(at) => (*at, "an attribute is written `name=\"value\"`; the value is missing"),
            AttrError::UnquotedValue(at) => (*at, "the value of an attribute needs quotes; add them"),
            AttrError::ExpectedQuote(at, _) => {
                (*at, "the value of an attribute ends with the quote it begins with; add it")
            }
            AttrError::Duplicated(at, _) => (*at, "an attribute occurs twice; remove one"),
        };
        self.wrong(base.saturating_add(at), "syntax", message)
    }

    /// The value of an attribute with references resolved and white space normalized.
    fn value(&self, raw: &'a str, base: usize) -> Result<Cow<'a, str>> {
        if let Some(at) = raw.find('<') {
            let message = "`<` is not allowed in the value of an attribute; write `&lt;`";
            return Err(self.wrong(base.saturating_add(at), "syntax", message));
        }
        if !raw.contains(['&', '\t', '\n', '\r']) {
            return Ok(Cow::Borrowed(raw));
        }
        let mut value = String::with_capacity(raw.len());
        let mut at = base;
        for (index, piece) in raw.split('&').enumerate() {
            let mut text = piece;
            if index > 0 {
                let Some((name, rest)) = piece.split_once(';') else {
                    return Err(self.unclosed_reference(at.saturating_sub(1)));
                };
                value.push(self.reference(name, at.saturating_sub(1))?);
                text = rest;
            }
            value.extend(text.replace("\r\n", " ").chars().map(|ch| if is_white(ch) { ' ' } else { ch }));
            at = at.saturating_add(piece.len()).saturating_add(1);
        }
        Ok(Cow::Owned(value))
    }

    fn unclosed_reference(&self, at: usize) -> Error {
        self.wrong(at, "reference", "a reference ends with `;`; add it, or write `&amp;` for `&`")
    }

    /// The character of the reference `&name;` at byte `at`.
    fn reference(&self, name: &str, at: usize) -> Result<char> {
        if let Some(number) = name.strip_prefix('#') {
            let (digits, radix) = match number.strip_prefix('x') {
                Some(hex) => (hex, 16),
                None => (number, 10),
            };
            let well_formed = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
            let ch = u32::from_str_radix(digits, radix).ok().and_then(char::from_u32).filter(|ch| is_allowed(*ch));
            let name = shown(name);
            let message = match ch {
                Some(ch) if well_formed => return Ok(ch),
                _ if well_formed => format!("`&{name};` is not a character that XML allows"),
                _ => format!("`&{name};` is not a character reference; write `&#123;` or `&#x7b;`"),
            };
            return Err(self.wrong(at, "reference", message));
        }
        match name {
            "lt" => Ok('<'),
            "gt" => Ok('>'),
            "amp" => Ok('&'),
            "apos" => Ok('\''),
            "quot" => Ok('"'),
            _ => Err(self.wrong(
                at,
                "entity",
                format!("the entity `&{};` is not predefined (`lt`, `gt`, `amp`, `apos`, `quot`); write the character, or `&amp;` for `&`", shown(name)),
            )),
        }
    }

    fn text(&mut self, start: usize, end: usize) -> Result<Option<Item<'a>>> {
        let text = self.slice(start, end);
        if let Some(at) = text.find("]]>") {
            return Err(self.wrong(start.saturating_add(at), "syntax", "`]]>` is not allowed in text; write `]]&gt;`"));
        }
        let visible = text.find(|ch| !is_white(ch)).map(|at| start.saturating_add(at));
        if self.open.is_empty() {
            return visible.map_or(Ok(None), |at| self.inside(at, "text").map(|()| None));
        }
        let place = self.places.at(visible.unwrap_or(start));
        Ok(Some(Item::Text { text: Cow::Borrowed(text), place }))
    }

    fn inside(&self, at: usize, what: &str) -> Result<()> {
        if self.open.is_empty() {
            let message = format!("{what} is outside the root element; move it inside or remove it");
            return Err(self.wrong(at, "structure", message));
        }
        Ok(())
    }

    fn instruction(&self, start: usize, end: usize) -> Result<()> {
        let content = self.slice(start.saturating_add(2), end.saturating_sub(2));
        let target = content.split(is_white).next().unwrap_or_default();
        if !is_name(target) || target.eq_ignore_ascii_case("xml") {
            let message = format!("`{}` is not a valid name of a processing instruction", shown(target));
            return Err(self.wrong(start, "name", message));
        }
        Ok(())
    }

    fn declaration(&mut self, start: usize, end: usize) -> Result<()> {
        if start != self.base {
            return Err(self.wrong(start, "declaration", "the XML declaration is only allowed at the very beginning"));
        }
        let inside = self.slice(start.saturating_add(2), end.saturating_sub(2));
        let attributes = self.attributes(start.saturating_add(2), inside, 3)?;
        let mut expected = ["version", "encoding", "standalone"].iter();
        for (index, attribute) in attributes.iter().enumerate() {
            let value = attribute.value.as_ref();
            let fits = match attribute.name {
                "version" => value
                    .strip_prefix("1.")
                    .is_some_and(|minor| !minor.is_empty() && minor.bytes().all(|digit| digit.is_ascii_digit())),
                "encoding" => is_encoding(value),
                "standalone" => matches!(value, "yes" | "no"),
                _ => false,
            };
            let in_order = expected.any(|name| *name == attribute.name) && (index > 0 || attribute.name == "version");
            if !fits || !in_order {
                return Err(self.bad_declaration(start));
            }
        }
        if attributes.is_empty() { Err(self.bad_declaration(start)) } else { Ok(()) }
    }

    fn bad_declaration(&self, start: usize) -> Error {
        let message = "the XML declaration is invalid; write `<?xml version=\"1.0\" encoding=\"UTF-8\"?>`";
        self.wrong(start, "declaration", message)
    }

    fn doctype(&self, start: usize) -> Error {
        self.wrong(start, "dtd", "a document type declaration is not allowed; remove it")
    }

    /// The error of quick-xml for a construct that begins at byte `start`.
    fn syntax(&self, error: &quick_xml::Error, start: usize) -> Error {
        let at = usize::try_from(self.reader.error_position()).unwrap_or(usize::MAX).saturating_add(self.base);
        if self.slice(start, self.source.len()).get(..9).is_some_and(|text| text.eq_ignore_ascii_case("<!DOCTYPE")) {
            return self.doctype(start);
        }
        let begun = self.slice(start, self.source.len());
        let bang = "`<!` may only begin a comment or a CDATA section";
        match error {
            quick_xml::Error::Syntax(error) => {
                let (reason, message) = match error {
                    SyntaxError::UnclosedComment if !begun.starts_with("<!--") => ("syntax", bang),
                    SyntaxError::UnclosedCData if !begun.starts_with("<![CDATA[") => ("syntax", bang),
                    SyntaxError::InvalidBangMarkup => ("syntax", bang),
                    SyntaxError::UnclosedPI | SyntaxError::UnclosedXmlDecl => {
                        ("unclosed", "`<?` is never closed; add `?>`")
                    }
                    SyntaxError::UnclosedComment => ("unclosed", "the comment is never closed; add `-->`"),
                    SyntaxError::UnclosedDoctype => return self.doctype(start),
                    SyntaxError::UnclosedCData => ("unclosed", "the CDATA section is never closed; add `]]>`"),
                    SyntaxError::UnclosedTag => {
                        ("unclosed", "the tag is never closed; add `>`, or write `&lt;` for `<`")
                    }
                    SyntaxError::UnclosedSingleQuotedAttributeValue
                    | SyntaxError::UnclosedDoubleQuotedAttributeValue => {
                        ("unclosed", "the value of an attribute in this tag is never closed; add the quote")
                    }
                };
                self.wrong(start, reason, message)
            }
            quick_xml::Error::IllFormed(IllFormedError::MismatchedEndTag { expected, found }) => {
                let (expected, found) = (shown(expected), shown(found));
                let message = format!("`</{found}>` closes nothing: `<{expected}>` is open; write `</{expected}>`");
                self.wrong(at, "mismatched_tag", message)
            }
            quick_xml::Error::IllFormed(IllFormedError::UnmatchedEndTag(found)) => {
                self.wrong(at, "mismatched_tag", format!("`</{}>` closes nothing; remove it", shown(found)))
            }
            quick_xml::Error::IllFormed(IllFormedError::UnclosedReference) => self.unclosed_reference(start),
            other => self.wrong(start, "syntax", format!("this is not XML: {other}")),
        }
    }
}

/// The beginning of a text, for a message.
pub(super) fn shown(text: &str) -> Cow<'_, str> {
    const MAX: usize = 40;
    match text.char_indices().nth(MAX) {
        Some((at, _)) => Cow::Owned(format!("{}…", text.get(..at).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

pub(super) fn is_white(ch: char) -> bool {
    matches!(ch, ' ' | '\t' | '\r' | '\n')
}

fn skip_white(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from.saturating_add(rest.len()).saturating_sub(rest.trim_start_matches(is_white).len())
}

/// `Char` of the standard, edition 5.
fn is_allowed(ch: char) -> bool {
    matches!(ch, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// `EncName` of the standard.
fn is_encoding(name: &str) -> bool {
    name.starts_with(|ch: char| ch.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

/// `Name` of the standard.
fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(begins_name) && chars.all(|ch| begins_name(ch) || continues_name(ch))
}

fn begins_name(ch: char) -> bool {
    matches!(ch,
        ':' | '_' | 'A'..='Z' | 'a'..='z'
        | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}'
        | '\u{37F}'..='\u{1FFF}' | '\u{200C}' | '\u{200D}' | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}'
        | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

fn continues_name(ch: char) -> bool {
    matches!(ch, '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}' | '\u{2040}')
}

/// The text of a template in bytes.
pub(super) fn decode(bytes: &[u8], limits: &Limits) -> Result<String> {
    limits::check("xmlBytes", bytes.len(), limits.xml_bytes)?;
    let refuse = |line: u32, column: u32, what: &str| {
        Error::new(Code::InvalidXml, format!("{what}; save the template as UTF-8 (line {line}, column {column})"))
            .with("reason", "encoding")
            .with("line", line)
            .with("column", column)
    };
    if [[0xFE, 0xFF], [0xFF, 0xFE]].iter().any(|mark| bytes.starts_with(mark)) {
        return Err(refuse(1, 1, "the template is UTF-16"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let valid =
            bytes.get(..error.valid_up_to()).and_then(|valid| std::str::from_utf8(valid).ok()).unwrap_or_default();
        let place = Places::new(valid).at(valid.len());
        refuse(place.line, place.column, "the template is not UTF-8")
    })?;
    let declaration = text.trim_start_matches(BOM).strip_prefix("<?xml").and_then(|rest| rest.split_once("?>"));
    let encoding = declaration.and_then(|(inside, _)| {
        let (_, value) = inside.split_once("encoding")?;
        let value = value.trim_start_matches(is_white).strip_prefix('=')?.trim_start_matches(is_white);
        let quote = value.chars().next()?;
        value.get(1..)?.split(quote).next()
    });
    match encoding {
        Some(name) if !["utf-8", "utf8", "us-ascii", "ascii"].iter().any(|known| name.eq_ignore_ascii_case(known)) => {
            Err(refuse(1, 1, &format!("the template declares the encoding `{}`", shown(name))))
        }
        _ => Ok(text.to_owned()),
    }
}
