//! Token costs of messages that the caller knows: they replace counting.

use crate::error::{Code, Error, Result};
use crate::json::Value;
use crate::prompt::Format;
use crate::prompt::Prices;
use crate::tokens::Counter;
use crate::vendors::chats;
use crate::vendors::pieces::message::Message;

/// Reads messages with the cost of each.
///
/// # Errors
/// [`Code::InvalidInput`] unless there is a cost for each message, and those of reading.
pub(super) fn read<'t>(
    format: Format,
    messages: &[Value<'t>],
    prices: Prices<'_>,
    costs: &[u32],
) -> Result<Vec<Message<'t>>> {
    if costs.len() != messages.len() {
        let (costs, messages) = (costs.len(), messages.len());
        let message = format!("`options.costs` has {costs} numbers for {messages} messages; pass one for each");
        return Err(Error::new(Code::InvalidInput, message).with("path", "options.costs"));
    }
    let mut read = chats::read(format, messages, Prices { counter: &LengthCounter, ..prices })?;
    read.iter_mut().zip(costs).for_each(|(message, &cost)| share_out(message, cost.into()));
    Ok(read)
}

/// A tokenizer for dividing a known cost among parts.
#[derive(Debug)]
struct LengthCounter;

impl Counter for LengthCounter {
    fn name(&self) -> &'static str {
        "length"
    }

    fn count(&self, text: &str) -> u32 {
        u32::try_from(text.len().div_ceil(4)).unwrap_or(u32::MAX)
    }
}

/// Divides the cost of a message among its parts, in proportion to their current costs.
fn share_out(message: &mut Message<'_>, cost: u64) {
    let counted = message.tokens().max(1);
    let share = |tokens: &mut u64| *tokens = tokens.saturating_mul(cost) / counted;
    share(&mut message.overhead);
    for piece in &mut message.pieces {
        for tokens in [&mut piece.tokens, &mut piece.now, &mut piece.outside_body] {
            share(tokens);
        }
        piece.texts.iter_mut().for_each(|text| share(&mut text.tokens));
        piece.images.iter_mut().for_each(|image| share(&mut image.tokens));
    }
    // Shares are rounded down.
    let rest = cost.saturating_sub(message.tokens());
    match message.pieces.first_mut().filter(|_| message.steps > 1) {
        Some(piece) => {
            for tokens in [&mut piece.tokens, &mut piece.now, &mut piece.outside_body] {
                *tokens = tokens.saturating_add(rest);
            }
        }
        None => message.overhead = message.overhead.saturating_add(rest),
    }
}
