//! Messages, their prices, the bodies of requests, and the replies to them. Messages are the result of an assembly and know no provider.

pub mod bodies;
mod cache;
mod format;
mod message;
mod price;
pub mod replies;

pub use cache::Fingerprint;
pub(crate) use cache::{message_hash, system_hash};
pub(crate) use format::FORMATS;
pub use format::Format;
pub(crate) use message::placeholder;
pub use message::{Message, MessageSpan};
pub use price::{AUDIO_SECOND, ImageRule, Overhead, Prices, UNKNOWN_IMAGE};
