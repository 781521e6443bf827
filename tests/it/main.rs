//! The integration tests: one binary, one module for each subject.

mod buffer;
mod dialogue;
mod generate;
mod golden;
mod model;
mod path;
mod recount;
mod selection;
mod tidy;
