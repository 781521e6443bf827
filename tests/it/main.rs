//! The integration tests: one binary, one module for each subject.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and reads the files it checks"
)]

mod agent_files;
mod agent_files_properties;
mod agent_files_since;
mod agent_lint;
mod agent_sessions;
mod agent_walks;
mod aware;
mod bodies;
mod bpe;
mod buffer;
mod calls;
mod chat;
mod claude_compactions;
mod codex_forks;
mod commits;
mod commits_indexes;
mod commits_properties;
mod commits_walk;
mod contexts;
mod continuation;
mod corpus;
mod custom_formats;
mod damaged_lines;
mod detection;
mod dialogue;
mod dialogue_series;
mod document_sessions;
mod errors;
mod estimator;
mod events;
mod every_vocabulary;
mod exchange_formats;
mod folders;
mod folders_calls;
mod folders_model;
mod formats;
mod generate;
mod golden;
mod graphemes;
mod growing_sessions;
mod identify;
mod imports;
mod left_out;
mod loom_import;
mod model;
mod models;
mod one_reader;
mod operators;
mod path;
mod preserved_thinking;
mod protected;
mod reading;
mod records;
mod recount;
mod reimports;
mod resident;
mod resident_changes;
mod resident_navigation;
mod resident_preview;
mod resident_traces;
mod rule_conversion;
mod selection;
mod session_details;
mod shapes;
mod text;
mod tidy;
mod time;
mod tokenizer;
mod tokens;
mod transcripts;
mod vendor_blocks;
mod workspace;

/// The root of the repository; the package of these tests is in a folder of it.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
