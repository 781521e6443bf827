//! JSON text as a flat list of steps over its bytes.
//!
//! The text is read once, without types, and nothing is copied or unescaped: a step records where a value begins and
//! ends. The rest of the crate accesses it through [`Value`](super::Value).
//!
//! `inline(always)` is 5 % of the time that a fit of a chat takes: docs/decisions/inlining.md.

use super::special::{first_special, plain_bytes};
use crate::error::{Code, Error, Result};
use crate::limits;

/// Maximal depth of lists and objects in a request.
pub(super) const DEPTH_MAX: usize = 256;

/// Offsets are below this; the bits above it are the kind of a [`Step`].
const OFFSETS: u32 = 1 << 29;

/// A value, a key, or the end of a list or an object.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// The offset of the first byte (of a string: its quote), with the [`Kind`] in the bits above; a closing step has
    /// none.
    start: u32,
    /// Of a string, the offset of the closing quote, with [`ESCAPED`] if it has escapes. Of a list or an object, the
    /// step that closes it; of that step, the number of items. Of any other value, the offset after it.
    end: u32,
}

/// The filler for unused steps.
const NO_STEP: Step = Step { start: 0, end: 0 };

/// Marks a text that is embedded in a request without escaping: this byte, five bytes of its length (seven bits each,
/// low ones first), then the text. Escaping long texts and reading the escapes would take longer than everything else.
/// The npm package writes such texts, and announces them by the same byte before the JSON.
const TEXT: u8 = 1;

/// Added to the `end` of a string with escapes.
const ESCAPED: u32 = OFFSETS;

/// Added if one of the escapes is not, or might not be, what `JSON.stringify` writes.
const UNUSUAL: u32 = 2 * OFFSETS;

impl Step {
    fn start(self) -> usize {
        (self.start % OFFSETS) as usize
    }

    fn kind(self) -> Kind {
        match self.start / OFFSETS {
            0 => Kind::Null,
            1 => Kind::Bool,
            2 => Kind::Number,
            3 => Kind::String,
            4 => Kind::List,
            _ => Kind::Object,
        }
    }
}

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Bool,
    Number,
    String,
    List,
    Object,
}

/// The steps of a JSON text, and its strings with lone surrogates.
#[derive(Debug)]
pub(super) struct Tape<'t> {
    text: &'t str,
    steps: Vec<Step>,
    /// Whether the text can have embedded texts.
    has_texts: bool,
    /// The step of each string with lone surrogates, and their number.
    lone_surrogates: Vec<(u32, u32)>,
}

impl<'t> Tape<'t> {
    /// Reads JSON text with or without embedded texts: see [`TEXT`].
    ///
    /// # Errors
    /// [`Code::InvalidInput`] if the text is not JSON, [`Code::LimitExceeded`] for 512 MiB or more and for too deep
    /// nesting.
    pub(super) fn read(text: &'t str) -> Result<Self> {
        if text.len() >= OFFSETS as usize {
            return Err(limits::exceeded("inputBytes", text.len(), OFFSETS - 1));
        }
        let mut reader = Reader::new(text, text.len() / 16 + 16);
        reader.tape.has_texts = text.as_bytes().first() == Some(&TEXT);
        reader.at = usize::from(reader.tape.has_texts);
        let read = reader.value().and_then(|()| match reader.peek() {
            None => Ok(()),
            Some(_) => Err(reader.stop("the end")),
        });
        read.map(|()| reader.tape()).map_err(|stopped| stopped.error(text, "the request"))
    }

    /// Reads the value at the start of the text; returns its end.
    pub(super) fn read_first(text: &'t str) -> std::result::Result<(Self, usize), SyntaxError> {
        Self::read_first_within(text, DEPTH_MAX)
    }

    /// Like [`Self::read_first`], with this limit on the depth.
    pub(super) fn read_first_within(text: &'t str, depth: usize) -> std::result::Result<(Self, usize), SyntaxError> {
        let text = text.get(..text.floor_char_boundary(OFFSETS as usize - 1)).unwrap_or_default();
        let mut reader = Reader::new(text, 16);
        reader.depth = depth;
        reader.value()?;
        let end = reader.at;
        Ok((reader.tape(), end))
    }

    pub(super) fn lone_surrogates(&self) -> &[(u32, u32)] {
        &self.lone_surrogates
    }

    #[inline(always)]
    fn step(&self, at: u32) -> Step {
        self.steps.get(at as usize).copied().unwrap_or(NO_STEP)
    }

    pub(super) fn kind(&self, at: u32) -> Kind {
        self.step(at).kind()
    }

    /// The step after the value at a step.
    #[inline(always)]
    pub(super) fn next(&self, at: u32) -> u32 {
        let step = self.step(at);
        match step.kind() {
            Kind::List | Kind::Object => step.end + 1,
            _ => at + 1,
        }
    }

    /// The step that closes the list or the object at a step.
    pub(super) fn close(&self, at: u32) -> u32 {
        self.step(at).end
    }

    /// The number of items of the list or object at a step.
    pub(super) fn count(&self, at: u32) -> usize {
        self.step(self.step(at).end).end as usize
    }

    /// The value's text; for a string without its quotes.
    pub(super) fn raw(&self, at: u32) -> &'t str {
        let step = self.step(at);
        let end = match step.kind() {
            Kind::String => return self.string(at).unwrap_or_default().0,
            Kind::List | Kind::Object => self.step(step.end).start() + 1,
            _ => step.end as usize,
        };
        self.text.get(step.start()..end).unwrap_or_default()
    }

    /// Whether the text has no embedded texts and no lone surrogates.
    pub(super) fn is_plain(&self) -> bool {
        !self.has_texts && self.lone_surrogates.is_empty()
    }

    /// The value's text; a string with its quotes.
    pub(super) fn json(&self, at: u32) -> &'t str {
        let step = self.step(at);
        match step.kind() {
            Kind::String => self.text.get(step.start()..=(step.end % OFFSETS) as usize).unwrap_or_default(),
            _ => self.raw(at),
        }
    }

    /// The text of the string at a step without its quotes, and whether it has escapes; `None` if the value is not a
    /// string.
    #[inline(always)]
    pub(super) fn string(&self, at: u32) -> Option<(&'t str, bool)> {
        let step = self.step(at);
        if step.kind() != Kind::String {
            return None;
        }
        let raw = self.text.get(step.start() + 1..(step.end % OFFSETS) as usize)?;
        Some((raw, step.end & ESCAPED != 0))
    }

    /// The bytes of the string at a step; `None` if it has escapes.
    #[inline(always)]
    pub(super) fn plain_string(&self, at: u32) -> Option<&'t [u8]> {
        let step = self.step(at);
        if step.kind() == Kind::String && step.end < OFFSETS {
            self.text.as_bytes().get(step.start() + 1..step.end as usize)
        } else {
            None
        }
    }

    /// Whether the string at a step has escapes, all as `JSON.stringify` writes them.
    pub(super) fn has_usual_escapes(&self, at: u32) -> bool {
        self.step(at).end & (ESCAPED | UNUSUAL) == ESCAPED
    }

    /// Whether the text can have embedded texts.
    pub(super) fn has_texts(&self) -> bool {
        self.has_texts
    }

    /// Bytes of the whole text.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }
}

/// The state of the reader.
struct Reader<'t> {
    bytes: &'t [u8],
    at: usize,
    /// The number of steps. The tape's list is preallocated, so that adding a step is a store and not a call.
    count: usize,
    /// Maximal depth of lists and objects.
    depth: usize,
    tape: Tape<'t>,
}

/// An open list or object.
struct Open {
    step: u32,
    items: u32,
    is_object: bool,
}

/// The byte at which reading stopped and the reason; the end of the text if it is incomplete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SyntaxError {
    pub at: usize,
    pub is_too_deep: bool,
    expected: &'static str,
}

impl SyntaxError {
    /// The error for a text with the name `what`.
    pub(crate) fn error(self, text: &str, what: &str) -> Error {
        if self.is_too_deep {
            return limits::exceeded("jsonDepth", DEPTH_MAX + 1, limits::JSON_DEPTH_MAX);
        }
        let Self { at, expected, .. } = self;
        let before = text.get(..at).unwrap_or_default();
        let line_start = before.bytes().rposition(|byte| byte == b'\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        let column = crate::text::utf16_len(before.get(line_start..).unwrap_or_default()) + 1;
        let found = text.get(at..).and_then(|rest| rest.chars().next());
        let found = found.map_or_else(|| "the end".to_owned(), |found| format!("`{}`", found.escape_default()));
        let message = format!("{what} is not JSON: expected {expected} at line {line} column {column}, found {found}");
        Error::new(Code::InvalidInput, message).with("line", line).with("column", column)
    }
}

type Read<T> = std::result::Result<T, SyntaxError>;

impl<'t> Reader<'t> {
    fn new(text: &'t str, steps: usize) -> Self {
        let tape = Tape { text, steps: vec![NO_STEP; steps], has_texts: false, lone_surrogates: Vec::new() };
        Self { bytes: text.as_bytes(), at: 0, count: 0, depth: DEPTH_MAX, tape }
    }

    /// Reads one value.
    fn value(&mut self) -> Read<()> {
        let mut open: Vec<Open> = Vec::new();
        // A local stays in a register; the functions that read single values continue at `self.at`.
        let mut at = self.at;
        loop {
            // A value begins here; in an object its key precedes it.
            if open.last().is_some_and(|open| open.is_object) {
                at = match self.short_string(self.skip_space(at)) {
                    Some(at) => at,
                    None => self.read_at(at, Self::key)?,
                };
                at = self.skip_space(at);
                if self.bytes.get(at) != Some(&b':') {
                    return Err(self.stop_at(at, "`:`"));
                }
                at += 1;
            }
            let step = self.count as u32;
            at = self.skip_space(at);
            let first = *self.bytes.get(at).ok_or_else(|| self.stop_at(at, "a value"))?;
            match first {
                b'"' => {
                    at = match self.short_string(at) {
                        Some(at) => at,
                        None => self.read_at(at, Self::string)?,
                    }
                }
                b'{' | b'[' => {
                    self.push(if first == b'{' { Kind::Object } else { Kind::List }, at, 0);
                    at += 1;
                    if open.len() == self.depth {
                        return Err(SyntaxError { is_too_deep: true, ..self.stop_at(at, "") });
                    }
                    open.push(Open { step, items: 0, is_object: first == b'{' });
                    let close = if first == b'{' { b'}' } else { b']' };
                    at = self.skip_space(at);
                    if self.bytes.get(at) != Some(&close) {
                        continue;
                    }
                }
                TEXT if self.tape.has_texts => at = self.read_at(at, Self::text)?,
                b't' => at = self.read_at(at, |reader| reader.word(b"true", Kind::Bool))?,
                b'f' => at = self.read_at(at, |reader| reader.word(b"false", Kind::Bool))?,
                b'n' => at = self.read_at(at, |reader| reader.word(b"null", Kind::Null))?,
                b'-' | b'0'..=b'9' => at = self.read_at(at, Self::number)?,
                _ => return Err(self.stop_at(at, "a value")),
            }
            // A value ends here, and possibly its containers.
            loop {
                let Some(top) = open.last_mut() else {
                    self.at = at;
                    return Ok(());
                };
                at = self.skip_space(at);
                let is_empty = top.step + 1 == self.count as u32;
                top.items += u32::from(!is_empty);
                let close = if top.is_object { b'}' } else { b']' };
                match self.bytes.get(at) {
                    Some(b',') if !is_empty => {
                        at += 1;
                        break;
                    }
                    Some(&byte) if byte == close => {
                        let (step, items) = (top.step, top.items);
                        let closing = self.count as u32;
                        self.push(Kind::Null, at, items);
                        at += 1;
                        if let Some(step) = self.tape.steps.get_mut(step as usize) {
                            step.end = closing;
                        }
                        open.pop();
                    }
                    _ => return Err(self.stop_at(at, if close == b'}' { "`,` or `}`" } else { "`,` or `]`" })),
                }
            }
        }
    }

    /// Runs `read` at a place and returns the place after it.
    #[inline(always)]
    fn read_at(&mut self, at: usize, read: impl FnOnce(&mut Self) -> Read<()>) -> Read<usize> {
        self.at = at;
        read(self)?;
        Ok(self.at)
    }

    /// Skips a string of fewer than [`CHUNK`] bytes without escapes and returns its end; `None` for any other.
    #[inline(always)]
    fn short_string(&mut self, at: usize) -> Option<usize> {
        let (quote, rest) = self.bytes.get(at..)?.split_first()?;
        let length = first_special(rest.first_chunk()?)?;
        if *quote != b'"' || rest.get(length) != Some(&b'"') {
            return None;
        }
        let end = at + 1 + length;
        self.push(Kind::String, at, end as u32);
        Some(end + 1)
    }

    #[inline(always)]
    fn push(&mut self, kind: Kind, start: usize, end: u32) {
        if self.count == self.tape.steps.len() {
            self.make_room();
        }
        if let Some(step) = self.tape.steps.get_mut(self.count) {
            *step = Step { start: start as u32 + OFFSETS * kind as u32, end };
            self.count += 1;
        }
    }

    fn make_room(&mut self) {
        self.tape.steps.resize(2 * self.count + 16, NO_STEP);
    }

    /// The tape of the steps read.
    fn tape(mut self) -> Tape<'t> {
        self.tape.steps.truncate(self.count);
        self.tape
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        self.at = self.skip_space(self.at);
        self.bytes.get(self.at).copied()
    }

    /// The offset of the next byte that is not white space.
    #[inline(always)]
    fn skip_space(&self, mut at: usize) -> usize {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.bytes.get(at) {
            at += 1;
        }
        at
    }

    fn key(&mut self) -> Read<()> {
        if self.peek() != Some(b'"') {
            return Err(self.stop("a key in quotes"));
        }
        self.string()
    }

    fn string(&mut self) -> Read<()> {
        let (start, bytes) = (self.at, self.bytes);
        let mut at = start + 1;
        let (mut escaped, mut lone) = (0, 0);
        loop {
            at += plain_bytes(bytes.get(at..).unwrap_or_default());
            self.at = at;
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => match bytes.get(at + 1) {
                    Some(b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't') => {
                        escaped |= ESCAPED;
                        at += 2;
                    }
                    _ => {
                        escaped |= ESCAPED | UNUSUAL;
                        lone += self.unusual_escape()?;
                        at = self.at;
                    }
                },
                Some(_) => return Err(self.stop("no control character in a string")),
                None => return Err(self.stop("the end of a string")),
            }
        }
        if lone > 0 {
            let step = self.count as u32;
            self.tape.lone_surrogates.push((step, lone));
        }
        self.push(Kind::String, start, self.at as u32 | escaped);
        self.at += 1;
        Ok(())
    }

    /// Skips an embedded text. The last byte of its length is in the place of a quote.
    fn text(&mut self) -> Read<()> {
        let (digits, rest) =
            self.bytes.get(self.at + 1..).and_then(<[u8]>::split_first_chunk).unwrap_or((&[0; 5], &[]));
        let length = digits.iter().rev().fold(0, |length: u64, digit| length << 7 | u64::from(*digit));
        if length > rest.len() as u64 {
            return Err(self.stop("a text of the stated length"));
        }
        let start = self.at + digits.len();
        self.at = start + 1 + length as usize;
        self.push(Kind::String, start, self.at as u32);
        Ok(())
    }

    /// Skips an unusual escape; returns its number of lone surrogates.
    fn unusual_escape(&mut self) -> Read<u32> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        match rest.get(1) {
            Some(b'/') => {
                self.at += 2;
                Ok(0)
            }
            Some(b'u') => {
                let Some(unit) = code_unit(rest) else {
                    return Err(self.stop_within("four hex digits", rest.len() < 6));
                };
                let paired = is_high(unit) && rest.get(6..).and_then(code_unit).is_some_and(is_low);
                self.at += if paired { 12 } else { 6 };
                Ok(u32::from(!paired && (is_high(unit) || is_low(unit))))
            }
            next => Err(self.stop_within("an escape", next.is_none())),
        }
    }

    fn word(&mut self, word: &[u8], kind: Kind) -> Read<()> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        if !rest.starts_with(word) {
            return Err(self.stop_within("a value", word.starts_with(rest)));
        }
        self.push(kind, self.at, (self.at + word.len()) as u32);
        self.at += word.len();
        Ok(())
    }

    fn number(&mut self) -> Read<()> {
        let start = self.at;
        self.at += usize::from(self.bytes.get(self.at) == Some(&b'-'));
        if self.bytes.get(self.at) == Some(&b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.bytes.get(self.at), Some(b'+' | b'-')));
            self.digits()?;
        }
        self.push(Kind::Number, start, self.at as u32);
        Ok(())
    }

    fn digits(&mut self) -> Read<()> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        if count == 0 { Err(self.stop("a digit")) } else { Ok(()) }
    }

    fn stop(&self, expected: &'static str) -> SyntaxError {
        self.stop_at(self.at, expected)
    }

    fn stop_at(&self, at: usize, expected: &'static str) -> SyntaxError {
        SyntaxError { at, is_too_deep: false, expected }
    }

    /// Like [`Self::stop`]; `is_torn` if the text ends too early.
    fn stop_within(&self, expected: &'static str, is_torn: bool) -> SyntaxError {
        let at = if is_torn { self.bytes.len() } else { self.at };
        SyntaxError { at, ..self.stop(expected) }
    }
}

/// The UTF-16 code unit of the `\uXXXX` at the beginning.
pub(super) fn code_unit(escape: &[u8]) -> Option<u32> {
    let digits = escape.get(..6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |value, &digit| Some(value * 16 + char::from(digit).to_digit(16)?))
}

pub(super) fn is_high(unit: u32) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

pub(super) fn is_low(unit: u32) -> bool {
    (0xDC00..0xE000).contains(&unit)
}
