//! Wire formats: one module per vendor, which reads its messages, answers and streams, and writes its messages and
//! bodies.
//!
//! A vendor's JSON keys occur here only, and one function per wire format classifies its parts or items (`part`, or a
//! kind in `fields`). Two readers are made from that. A chat's message becomes pieces with their places and costs
//! (`pieces`), so that it can be edited in place; an answer or a foreign file becomes blocks (`blocks`). Conversion makes
//! blocks from pieces (`normalized_chat`). Messages of blocks are written into bodies and chats (`bodies`).

pub(crate) mod ai_sdk;
pub(crate) mod anthropic;
pub(crate) mod atif;
pub(crate) mod blocks;
pub(crate) mod bodies;
pub(crate) mod chats;
pub(crate) mod cline;
pub(crate) mod continue_dev;
pub(crate) mod copilot;
pub(crate) mod detect;
pub(crate) mod fields;
pub(crate) mod format;
mod frameworks;
pub(crate) mod gemini;
pub(crate) mod gemini_interactions;
mod gemini_shared;
pub(crate) mod generic;
pub(crate) mod langchain;
pub(crate) mod left_out;
pub(crate) mod media;
pub(crate) mod message;
pub(crate) mod message_hash;
pub(crate) mod normalized_chat;
pub(crate) mod openai_agents;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;
mod openai_shared;
pub(crate) mod opencode;
pub(crate) mod otel;
pub(crate) mod part;
pub(crate) mod pi;
pub(crate) mod pieces;
pub(crate) mod price;
pub(crate) mod qwen;
pub(crate) mod replies;
pub(crate) mod signature;
mod value_price;
pub(crate) mod vendor_block;
