//! A chat under a budget: takes an array of messages in any provider's format, and returns the messages that fit
//! (docs/chats.md).
//!
//! [`fit`] makes one fit; a [`Chat`] reads and counts its messages once, for many. [`count`] and [`measure`] return
//! costs, [`convert`] converts a chat to another format. [`CALLS`] is the same API over JSON.
//!
//! `vendors` reads a message into pieces: a text, a call, a result, with its cost and its place. `pairs` finds units,
//! `edits` clears and removes parts of messages, and `cut` removes whole messages by the strategies of `assembly`.
//! `protection` sets messages aside that are shortened rather than removed, `shortening` shortens them and the edges of
//! the gap, `gap` has the marker and the summary. `media` limits images and bytes (`sizes`), `billing` leaves out free
//! messages, `adjacency` and `refused` report content that a provider rejects. Nothing is rebuilt: `outcome` has the
//! decisions (which messages are kept and what changes in them), and `fitted` applies them. `series` relates the
//! messages to those of the last fit, `continuing` repeats its treatment (`treatment`) and makes the `state` for the
//! next one. `resident` keeps the results of reading and counting. `convert` takes messages of blocks, which `vendors`
//! makes of the pieces, and writes them in another format or as a Loom tree.

mod adjacency;
mod attempts;
mod billing;
mod calls;
#[expect(clippy::module_inception, reason = "the type of the area")]
mod chat;
mod chat_input;
mod compaction;
mod continuing;
mod convert;
mod course;
mod cut;
mod edits;
mod entry;
mod fit;
mod fitted;
mod gap;
mod identity;
mod known_costs;
mod measure;
mod media;
mod messages;
mod options;
mod outcome;
mod pairs;
mod protection;
mod read;
mod refused;
mod report;
mod request;
mod request_overhead;
pub mod resident;
mod rules;
mod series;
mod shortening;
mod sizes;
mod state;
mod thinking;
mod treatment;
mod typed;
mod unit_index;

pub use crate::assembly::preserved::PreservedThinking;
pub use crate::assembly::series::{Prefix, PrefixReason};
pub use crate::assembly::settings::{Fill, Protect, Strategy};
pub use crate::content::Role;
pub use crate::prompt::Format;
pub use crate::vendors::pieces::message::{Path, Reason, Step};
pub use calls::CALLS;
pub use chat::Chat;
pub use fitted::Fitted;
pub(crate) use identity::ChatIdentity;
pub use measure::{Measurement, MessageCost, PartCost, PartPosition};
pub use options::{CallEdit, Edits, FitOptions, RemovedReasoning, RequestFields, ResultEdit, ToolFilter};
pub use outcome::SummaryInput;
pub use report::{AddedKind, AddedMessage, EditEffect, Fate, Report, ReportRow, Tokens};
pub use state::{FitState, Previous};
pub use typed::{Converted, convert, count, finish_fit, fit, measure, plan_fit};
