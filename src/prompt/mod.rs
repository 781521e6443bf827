//! Messages and their parts: what an assembly gives, whatever provider it is for.

pub mod bodies;
mod cache;
mod message;
mod price;

pub use cache::Fingerprint;
pub(crate) use cache::{message_hash, system_hash};
pub use message::{AudioPart, Content, ImagePart, Message, MessageSpan, Part, Role, ToolCallPart, ToolResultPart};
pub use price::{AUDIO_SECOND, ImageRule, Overhead, Prices, UNKNOWN_IMAGE};
