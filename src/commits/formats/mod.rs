//! The registry of formats: how agents store their conversations, and how deltas of one format are joined
//! (docs/session-formats.md).
//!
//! | name | what | concatenation |
//! | --- | --- | --- |
//! | `claude-code-v1` | Claude Code's JSONL transcripts | bytes appended |
//! | `codex-v1` | Codex rollouts, enveloped JSONL | bytes appended |
//! | `atif-1.7`, `otel-genai` | exchange formats | objects merged |
//! | `cline-v1`, `continue-v1`, `opencode-export` | the sessions of Cline, Continue and OpenCode | objects merged |
//! | `copilot-cli-v1` | the events of Copilot CLI | bytes appended |
//! | `pi-v3` | the sessions of pi | bytes appended |
//! | `qwen-code-v1` | the sessions of Qwen Code | bytes appended |
//! | `sts` | sessions of any agent for Hugging Face | bytes appended |
//! | `codex-v0` | the older rollouts, bare items | bytes appended |
//! | `generic-v1` | JSONL of `{ role, content }` | bytes appended |
//! | `bureau-agent-v1` | a CBOR array of messages | items spliced under one header |
//! | `events-v1` | a CBOR array of Bureau's events | items spliced under one header |
//! | `gemini-v1` | Gemini CLI's session files | lines appended; objects with `messages` merged |
//!
//! A host adds further ones, each a [`CustomFormat`].
//!
//! Concatenation does not parse the conversation, so it costs little more than copying: unknown content passes through
//! byte for byte. [`Format::read`] parses it.

pub(crate) mod append;
mod bureau;
mod cbor;
mod cbor_array;
mod cbor_fields;
pub(crate) mod claude;
mod codec;
pub(crate) mod codex;
mod codex_fork;
mod concatenator;
mod context;
mod continuation;
mod custom;
mod detect;
pub(crate) mod document;
pub(crate) mod entries;
pub(crate) mod entry_shape;
mod events;
mod exchange;
mod format;
pub(crate) mod gemini;
mod gemini_join;
pub(crate) mod generic;
mod json_array;

pub use codec::ReadOptions;
pub(crate) use codec::{follow, map_fields, write_part};
pub use codex_fork::{ForkBase, JoinedFork, fork_base, join_fork_base};
pub use concatenator::{Concatenated, Concatenator};
pub(crate) use context::{Context, context_at};
pub(crate) use continuation::Continuation;
pub use custom::{CustomFormat, Join};
pub(crate) use custom::{JoinRule, MARKDOWN, NamedFormat};
pub use detect::detect_format;
pub(crate) use detect::detect_with_line;
pub(crate) use format::read_json;
pub use format::{BlobSource, Format};
pub(crate) use gemini_join::{is_lines as is_gemini_lines, to_incremental_lines, to_lines as gemini_lines};
