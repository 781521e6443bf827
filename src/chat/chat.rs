//! A chat that keeps its messages, for many fits.

use serde_json::Value as Json;

use super::fitted::{Fitted, value_at};
use super::options::FitOptions;
use super::resident::{Changed, ResidentChat, Splice};
use super::state::{FitState, Previous};
use super::typed::{RequestJson, fields, fit};
use crate::error::{Code, Diagnostic, Error, Result};
use crate::json::{self, Document};
use crate::prompt::Format;

/// A chat whose messages are read and counted once, when they are appended.
///
/// A fit returns the same as [`fit`](super::fit()) for the same messages and options. A failed change leaves the chat
/// unchanged.
///
/// ```
/// use ctxweave::chat::{Chat, FitOptions};
/// use serde_json::json;
///
/// let mut chat = Chat::new(FitOptions { max_tokens: Some(8000), ..FitOptions::default() })?;
/// chat.append(&[json!({ "role": "user", "content": "What is a loom?" })])?;
/// chat.append(&[json!({ "role": "assistant", "content": "A loom" })])?;
/// chat.append_text(" holds threads under tension.")?;
/// assert_eq!(chat.messages()[1]["content"], "A loom holds threads under tension.");
/// assert_eq!(chat.fit()?.report.tokens.total, chat.tokens());
/// # Ok::<(), ctxweave::Error>(())
/// ```
#[derive(Debug)]
pub struct Chat {
    messages: Vec<Json>,
    resident: ResidentChat,
}

impl Chat {
    /// Creates a chat without messages.
    ///
    /// # Errors
    /// Those of [`fit`](super::fit()) for options.
    pub fn new(options: FitOptions) -> Result<Self> {
        let RequestJson(request) = RequestJson::new(&[], &options)?;
        let document = Document::read(&request, &[])?;
        let (_, options_json) = fields(&document)?;
        let resident = ResidentChat::new(request.clone(), options_json, options, Vec::new())?;
        Ok(Self { messages: Vec::new(), resident })
    }

    /// The messages, in order.
    pub fn messages(&self) -> &[Json] {
        &self.messages
    }

    /// Tokens of the unfitted request.
    pub fn tokens(&self) -> u64 {
        self.resident.total()
    }

    /// Appends messages.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] for a message in an unknown format, or in another format than earlier ones;
    /// [`Code::TokenizerFailed`].
    pub fn append(&mut self, messages: &[Json]) -> Result<()> {
        self.splice(self.messages.len(), 0, messages)
    }

    /// Appends to the text at the end of the last message. The cost is that of the appended text.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] if there is no message or the last one does not end in text; [`Code::TokenizerFailed`].
    pub fn append_text(&mut self, delta: &str) -> Result<()> {
        let path = self.resident.append_text(delta)?.path;
        let last = self.messages.last_mut();
        match path.and_then(|path| value_at(last?, &path)) {
            Some(Json::String(text)) => {
                text.push_str(delta);
                Ok(())
            }
            _ => {
                let message = "the chat does not end in text; append a message, or replace the last one";
                Err(Error::new(Code::InvalidInput, message).with("path", "messages"))
            }
        }
    }

    /// Replaces a message.
    ///
    /// # Errors
    /// Those of [`append`](Self::append); [`Code::InvalidInput`] if no message has the index.
    pub fn replace(&mut self, index: usize, message: Json) -> Result<()> {
        if index >= self.messages.len() {
            let text = format!("no message has the index {index}; the chat has {}", self.messages.len());
            return Err(Error::new(Code::InvalidInput, text).with("path", "index"));
        }
        let mut messages = vec![message];
        if self.resident.format() == Format::Gemini {
            // The results of Gemini's calls are matched by order.
            messages.extend_from_slice(self.messages.get(index + 1..).unwrap_or_default());
        }
        self.splice(index, messages.len(), &messages)
    }

    /// Removes the messages after the first `len`.
    ///
    /// # Errors
    /// [`Code::TokenizerFailed`].
    pub fn truncate(&mut self, len: usize) -> Result<()> {
        self.splice(len, self.messages.len().saturating_sub(len), &[])
    }

    fn splice(&mut self, at: usize, remove: usize, messages: &[Json]) -> Result<()> {
        let (before, after) = self.messages.split_at(at.min(self.messages.len()));
        let after = after.get(remove..).unwrap_or_default();
        if splice(&mut self.resident, at, remove, messages)?.again {
            // Together the messages have another format than separately.
            let all = [before, messages, after].concat();
            splice(&mut self.resident, 0, self.messages.len(), &all)?;
            self.messages = all;
        } else {
            let end = self.messages.len() - after.len();
            self.messages.splice(before.len()..end, messages.iter().cloned());
        }
        Ok(())
    }

    /// Fits the chat. An index of `pinned` that has no message yet is an error.
    ///
    /// # Errors
    /// Those of [`fit`](super::fit()).
    pub fn fit(&self) -> Result<Fitted> {
        self.fitted(None)
    }

    /// Fits the chat once with other options. `format`, `model`, `counter`, `tokenizers`, `system` and `tools` are the
    /// chat's.
    ///
    /// # Errors
    /// Those of [`fit`](super::fit()).
    pub fn fit_with(&self, options: &FitOptions) -> Result<Fitted> {
        let own = self.resident.options();
        let options = options.of_chat(own);
        if options.max_bytes.is_some() && own.max_bytes.is_none() {
            // The chat has no sizes of its messages.
            let previous = match (options.previous, self.state()) {
                (Previous::None, None) => Previous::Start,
                (Previous::None, Some(state)) => Previous::State(state),
                (previous, _) => previous,
            };
            let (system, tools) = (own.system.clone(), own.tools.clone());
            return fit(&self.messages, &FitOptions { previous, system, tools, ..options });
        }
        self.fitted(Some((&options, Vec::new())))
    }

    /// The state after the last [`fit`](Self::fit), from which another chat can continue.
    pub fn state(&self) -> Option<FitState> {
        self.resident.state()
    }

    fn fitted(&self, others: Option<(&FitOptions, Vec<Diagnostic>)>) -> Result<Fitted> {
        if let Some(last) = self.messages.last().filter(|_| self.resident.has_grown()) {
            let json = json::write(last)?;
            self.resident.refresh_last(Document::read(&json, &[])?.root());
        }
        let decisions = self.resident.fit(others)?;
        Ok(Fitted::new(&self.messages, decisions.each(self.resident.messages())))
    }
}

fn splice(resident: &mut ResidentChat, at: usize, remove: usize, messages: &[Json]) -> Result<Changed> {
    let request = json::write(&json::object([("messages", messages.into())]))?;
    let document = Document::read(&request, &[])?;
    let messages = document.root().object("messages, an object")?.need("messages")?;
    resident.splice(Splice { at, remove, messages, pinned: None, repaired: Vec::new() })
}
