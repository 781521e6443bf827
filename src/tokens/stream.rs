//! The tokens of a text that grows.

use std::rc::Rc;

use crate::call::CallContext;
use crate::error::Result;
use crate::json::Document;
use crate::tokens::{Counter, IncrementalCount};

/// Counts a text as it comes. An exact tokenizer and the estimator look at what is new, and keep no more of the text than
/// its last words; any other counter counts all of it again, which is kept.
#[derive(Clone, Debug)]
pub struct TokenStream {
    counter: Rc<dyn Counter>,
    /// What of the text more of it may change.
    rest: String,
    incremental: IncrementalCount,
    tokens: u32,
}

impl TokenStream {
    /// No text yet.
    pub fn new(counter: Rc<dyn Counter>) -> Self {
        Self { counter, rest: String::new(), incremental: IncrementalCount::default(), tokens: 0 }
    }

    /// A stream with the counter that the JSON of `{ options: { tokenizer } }` asks for.
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

    /// How many tokens the text so far has.
    pub fn count(&self) -> u32 {
        self.tokens
    }

    /// Adds to the text. Where what comes next is known to begin with the second half of a character, `half` stands for the first
    /// half: it is counted, and not kept. Where the counter fails, nothing changes.
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
        } else if let Some(forgotten @ 1..) = self.counter.invalidate(&self.rest, &mut self.incremental) {
            self.rest.drain(..forgotten);
        }
        self.tokens
    }

    /// Begins again, without a text.
    pub fn reset(&mut self) {
        self.rest.clear();
        (self.incremental, self.tokens) = (IncrementalCount::default(), 0);
    }

    /// How many bytes of the text are kept.
    pub fn kept(&self) -> usize {
        self.rest.len()
    }
}
