//! A chat under a budget: an array of messages in any provider's format goes in, the decisions about it come out (SPEC §8).
//!
//! `formats` reads a message into pieces: a text, a call, a result, with what each costs and where it stands. `pairs` finds
//! what belongs together, `edits` clears and removes what the caller allows to go first, and `fit` puts the rest under the
//! budget by the strategies of `assembly`. Nothing is rebuilt: what leaves is which messages stay, and what to
//! change in them. `resident` keeps what reading and counting found, for a chat that goes on. `neutral` makes messages of blocks
//! from the pieces, and `convert` has them written in another format or as a Loom tree.

mod attempts;
mod calls;
mod chat_input;
mod compaction;
mod convert;
mod course;
mod detect;
mod edits;
mod fit;
mod formats;
mod measure;
mod media;
mod message;
mod messages;
mod normalized_chat;
mod options;
mod outcome;
mod pairs;
mod report;
mod request_overhead;
pub mod resident;
mod rules;
mod thinking;
mod unit_index;

pub use calls::CALLS;
