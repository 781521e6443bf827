//! Context files and rules, as each agent loads them (docs/agent-files.md).
//!
//! A preset describes an agent as data. A load looks at the host's files, as far as they are known, and lists the paths
//! to look at next; when none is left, its result is ready. Every file has a decision with its reason.

mod budget;
mod calls;
mod convert;
mod expand;
mod explain;
mod lint;
mod load;
mod paths;
mod patterns;
mod preset;
mod report;
mod rules;
mod scan;
mod session;
mod statements;
mod translate;
mod world;

pub use calls::CALLS;
