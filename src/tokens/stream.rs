//! Counts the tokens of a streaming text.

use std::rc::Rc;

use crate::call::CallContext;
use crate::error::Result;
use crate::json::Document;
use crate::tokens::{Counter, IncrementalCount};

/// Counts a text as it arrives. An exact tokenizer and the estimator scan only the new part, and keep only the last
/// words of the text; any other counter counts the whole text again, which is kept.
#[derive(Clone, Debug)]
pub struct TokenStream {
    counter: Rc<dyn Counter>,
    /// The part of the text that more text may change.
    rest: String,
    incremental: IncrementalCount,
    tokens: u32,
}

impl TokenStream {
    /// An empty stream.
    pub fn new(counter: Rc<dyn Counter>) -> Self {
        Self { counter, rest: String::new(), incremental: IncrementalCount::default(), tokens: 0 }
    }

    /// A stream with the counter in the JSON of `{ options: { tokenizer } }`.
    ///
    /// # Errors
    /// [`crate::Code::InvalidInput`], [`crate::Code::UnknownValue`] and [`crate::Code::VocabularyNotLoaded`].
    pub fn from_json(request: &[u8], host: &CallContext) -> Result<Self> {
        let document = Document::read(request, &[])?;
        let document: &Document<'_> = &document;
        let arguments = document.root().object("arguments, an object")?;
        let options = arguments.read("options", |options| options.object("options, an object"))?;
        let tokenizer = options.map(|options| options.only(&["tokenizer"])?.get("tokenizer")).transpose()?.flatten();
        Ok(Self::new(host.counter(tokenizer)?))
    }

    /// The number of tokens of the text so far.
    pub fn count(&self) -> u32 {
        self.tokens
    }

    /// Appends to the text. If the next text is known to begin with the second half of a character, `half` is a
    /// placeholder for the first half: it is counted, but not kept. If the counter fails, nothing changes.
    pub fn append(&mut self, delta: &str, half: &str) -> u32 {
        let (before, tokens) = (self.rest.len(), self.tokens);
        if !delta.is_empty() {
            self.rest.push_str(delta);
            self.tokens = self.counter.count_incremental(&self.rest, &mut self.incremental);
        }
        if !half.is_empty() {
            let (whole, incremental) = (self.rest.len(), self.incremental);
            self.rest.push_str(half);
            self.tokens = self.counter.count_incremental(&self.rest, &mut self.incremental);
            self.rest.truncate(whole);
            self.incremental = incremental;
        }
        if self.counter.has_failed() {
            self.rest.truncate(before);
            self.tokens = tokens;
        } else if let Some(invalidated @ 1..) = self.counter.invalidate(&self.rest, &mut self.incremental) {
            self.rest.drain(..invalidated);
        }
        self.tokens
    }

    /// Resets to an empty text.
    pub fn reset(&mut self) {
        self.rest.clear();
        (self.incremental, self.tokens) = (IncrementalCount::default(), 0);
    }

    /// Number of kept bytes of the text.
    pub fn kept(&self) -> usize {
        self.rest.len()
    }
}
