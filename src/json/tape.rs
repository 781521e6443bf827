//! JSON text as a flat list of steps over its bytes.
//!
//! The text is read once, without types, and nothing of it is copied or unescaped: a step says where a value begins and
//! ends. [`Value`](super::Value) is how the rest of the crate looks at it.
//!
//! `inline(always)` is 5 % of the time that a fit of a chat takes: docs/decisions/inlining.md.

use super::special::{first_special, plain_bytes};
use crate::error::{Code, Error, Result};
use crate::limits;

/// How deep lists and objects may be nested in a request.
pub(super) const DEPTH_MAX: usize = 256;

/// Offsets stay below this: the bits above it say what a [`Step`] is.
const OFFSETS: u32 = 1 << 29;

/// A value, a key, or the end of a list or an object.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// The offset of the first byte, for strings of the quote, and above that the [`Kind`]; of a closing step none.
    start: u32,
    /// For strings the offset of the closing quote, with [`ESCAPED`] where there are escapes. For lists and objects the step
    /// that closes them, and for that step how many items there are. For the rest the offset after it.
    end: u32,
}

/// What is where no step is.
const NO_STEP: Step = Step { start: 0, end: 0 };

/// Where a text stands in a request as it is: after this byte and five of its length, seven bits each, low ones first. To
/// escape long texts and to read the escapes would take longer than all else. The npm package writes them, and says so by the
/// same byte before all of the JSON.
const TEXT: u8 = 1;

/// Added to the `end` of a string that holds escapes.
const ESCAPED: u32 = OFFSETS;

/// Added where one of them is not what `JSON.stringify` writes, or might not be.
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

/// What kind of value it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Bool,
    Number,
    String,
    List,
    Object,
}

/// The steps of a JSON text, and the strings in it that held halves of surrogate pairs.
#[derive(Debug)]
pub(super) struct Tape<'t> {
    text: &'t str,
    steps: Vec<Step>,
    /// Whether there may be texts as they are.
    has_texts: bool,
    /// The step of each string with lone surrogates, and how many there are.
    lone_surrogates: Vec<(u32, u32)>,
}

impl<'t> Tape<'t> {
    /// Reads JSON text, in which there may be texts as they are: see [`TEXT`].
    ///
    /// # Errors
    /// [`Code::InvalidInput`] for what is no JSON, [`Code::LimitExceeded`] for 512 MiB of it or too deep nesting.
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

    /// Reads the value that the text begins with, and says where it ends.
    pub(super) fn read_first(text: &'t str) -> std::result::Result<(Self, usize), SyntaxError> {
        Self::read_first_within(text, DEPTH_MAX)
    }

    /// The same of a text with lists and objects within each other to this depth.
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

    /// How many items the list or the object at a step has.
    pub(super) fn count(&self, at: u32) -> usize {
        self.step(self.step(at).end).end as usize
    }

    /// The value as it stands in the text; for a string without its quotes.
    pub(super) fn raw(&self, at: u32) -> &'t str {
        let step = self.step(at);
        let end = match step.kind() {
            Kind::String => return self.string(at).unwrap_or_default().0,
            Kind::List | Kind::Object => self.step(step.end).start() + 1,
            _ => step.end as usize,
        };
        self.text.get(step.start()..end).unwrap_or_default()
    }

    /// Whether the text is JSON all through, and without lone surrogates.
    pub(super) fn is_plain(&self) -> bool {
        !self.has_texts && self.lone_surrogates.is_empty()
    }

    /// The value as it stands in the text, with its quotes where it is a string.
    pub(super) fn json(&self, at: u32) -> &'t str {
        let step = self.step(at);
        match step.kind() {
            Kind::String => self.text.get(step.start()..=(step.end % OFFSETS) as usize).unwrap_or_default(),
            _ => self.raw(at),
        }
    }

    /// The string at a step as it stands in the text without its quotes, and whether it holds escapes; nothing where the value
    /// is no string.
    #[inline(always)]
    pub(super) fn string(&self, at: u32) -> Option<(&'t str, bool)> {
        let step = self.step(at);
        if step.kind() != Kind::String {
            return None;
        }
        let raw = self.text.get(step.start() + 1..(step.end % OFFSETS) as usize)?;
        Some((raw, step.end & ESCAPED != 0))
    }

    /// The bytes of the string at a step; `None` if it holds escapes.
    #[inline(always)]
    pub(super) fn plain_string(&self, at: u32) -> Option<&'t [u8]> {
        let step = self.step(at);
        if step.kind() == Kind::String && step.end < OFFSETS {
            self.text.as_bytes().get(step.start() + 1..step.end as usize)
        } else {
            None
        }
    }

    /// Whether the string at a step holds escapes, all of them such as `JSON.stringify` writes.
    pub(super) fn has_usual_escapes(&self, at: u32) -> bool {
        self.step(at).end & (ESCAPED | UNUSUAL) == ESCAPED
    }

    /// Whether there may be texts as they are.
    pub(super) fn has_texts(&self) -> bool {
        self.has_texts
    }

    /// Bytes of the whole text.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }
}

/// Where reading is.
struct Reader<'t> {
    bytes: &'t [u8],
    at: usize,
    /// How many steps there are. After them the tape's list has room, so that adding one is a store and no call.
    count: usize,
    /// How deep lists and objects may be nested.
    depth: usize,
    tape: Tape<'t>,
}

/// A list or an object that is open.
struct Open {
    step: u32,
    items: u32,
    is_object: bool,
}

/// Why reading stopped, and at which byte; at the end of the text where something was still to come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SyntaxError {
    pub at: usize,
    pub is_too_deep: bool,
    expected: &'static str,
}

impl SyntaxError {
    /// The error for a text that is called `what`.
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
        let message = format!("{what} is not JSON: {found} at line {line} column {column} where {expected} should be");
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
        // A local, which stays in a register; the functions that read one thing continue `self.at`.
        let mut at = self.at;
        loop {
            // A value begins here, and in an object its key before it.
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
            // A value ends here, and with it perhaps what it is in.
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

    /// Reads what begins at a place, and says where it ends.
    #[inline(always)]
    fn read_at(&mut self, at: usize, read: impl FnOnce(&mut Self) -> Read<()>) -> Read<usize> {
        self.at = at;
        read(self)?;
        Ok(self.at)
    }

    /// Passes a string of fewer than [`CHUNK`] bytes with no escapes, and says where it ends; nothing if missing.
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

    /// What was read.
    fn tape(mut self) -> Tape<'t> {
        self.tape.steps.truncate(self.count);
        self.tape
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        self.at = self.skip_space(self.at);
        self.bytes.get(self.at).copied()
    }

    /// Where the next byte is that is no white space.
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

    /// Passes a text that stands here as it is. The last byte of its length is where a quote would be.
    fn text(&mut self) -> Read<()> {
        let (digits, rest) =
            self.bytes.get(self.at + 1..).and_then(<[u8]>::split_first_chunk).unwrap_or((&[0; 5], &[]));
        let length = digits.iter().rev().fold(0, |length: u64, digit| length << 7 | u64::from(*digit));
        if length > rest.len() as u64 {
            return Err(self.stop("a text of the length that is said"));
        }
        let start = self.at + digits.len();
        self.at = start + 1 + length as usize;
        self.push(Kind::String, start, self.at as u32);
        Ok(())
    }

    /// Passes an escape that is none of the usual ones, and says how many lone surrogates it is.
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

    /// The same where what is there is only the beginning of what could be right.
    fn stop_within(&self, expected: &'static str, is_torn: bool) -> SyntaxError {
        let at = if is_torn { self.bytes.len() } else { self.at };
        SyntaxError { at, ..self.stop(expected) }
    }
}

/// The UTF-16 code unit that the `\uXXXX` at the beginning names.
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
