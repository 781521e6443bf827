//! What a chat costs, as OpenAI's cookbook counts it ("How to count tokens with tiktoken").

use crate::tokens::Counter;

/// One message of a chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatMessage<'a> {
    /// Who it is from.
    pub role: &'a str,
    /// What it says.
    pub content: &'a str,
    /// The name of whom it is from, where there are several.
    pub name: Option<&'a str>,
}

/// What a model family adds around messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatOverhead {
    /// For each message, beside the tokens of its role, content and name.
    pub per_message: u32,
    /// For each name, beside its tokens.
    pub per_name: u32,
    /// For the request: every reply is primed.
    pub per_request: u32,
}

impl Default for ChatOverhead {
    /// That of gpt-3.5-turbo, gpt-4, gpt-4o and since.
    fn default() -> Self {
        Self { per_message: 3, per_name: 1, per_request: 3 }
    }
}

/// Tokens of a chat. Special-token text in the messages is plain text.
pub fn count_chat<'a>(
    messages: impl IntoIterator<Item = ChatMessage<'a>>,
    overhead: ChatOverhead,
    counter: &dyn Counter,
) -> u64 {
    let count = |text: &str| u64::from(counter.count(text));
    let message = |message: ChatMessage<'a>| {
        let name = message.name.map_or(0, |name| count(name).saturating_add(overhead.per_name.into()));
        u64::from(overhead.per_message) + count(message.role) + count(message.content) + name
    };
    messages.into_iter().map(message).sum::<u64>().saturating_add(overhead.per_request.into())
}
