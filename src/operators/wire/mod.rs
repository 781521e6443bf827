//! Tasks, requests and runs as they come over the wire and go (SPEC §7).
//!
//! Every function has two faces: one for values that are decoded already, which the wasm boundary calls, and one from
//! JSON text to JSON text, ending in `_json`.

mod assembly;
mod failure;
mod run;
mod task;
mod template;

#[cfg(target_arch = "wasm32")]
use serde::Serialize;

use super::xml::shown;
use crate::error::{Code, Error, Result};

pub use assembly::{begin_json, finish_json};
pub use failure::{reduce_failure_json, sequential_failure_json};
pub use run::{next_request_json, record_result_json, start_run_json};
pub use task::explain_task_json;
pub use template::{parse_task_json, write_task_json};
#[cfg(target_arch = "wasm32")]
pub(crate) use {
    assembly::{AnswerIn, AssemblyIn, begin_assembly, finish_assembly},
    failure::{reduce_failure_of, sequential_failure_of},
    run::{next_request, record_result, start_run},
    task::explain_task,
    template::{parse, parse_of_bytes, write},
};

fn known<T: Copy>(path: &str, name: Option<&str>, names: &[(&'static str, T)]) -> Result<Option<T>> {
    let Some(name) = name else { return Ok(None) };
    match names.iter().find(|(known, _)| *known == name) {
        Some((_, value)) => Ok(Some(*value)),
        None => {
            let expected: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
            let message = format!("`{path}` is `{}`; it must be one of `{}`", shown(name), expected.join("`, `"));
            let error = Error::new(Code::UnknownValue, message).with("value", name);
            Err(error.with("expected", expected).with("path", path))
        }
    }
}

fn named<T: Copy>(all: &[T], name: fn(T) -> &'static str) -> Vec<(&'static str, T)> {
    all.iter().map(|value| (name(*value), *value)).collect()
}

#[cold]
fn invalid(path: &str, message: &str) -> Error {
    Error::new(Code::InvalidInput, format!("`{path}` {message}")).with("path", path)
}

/// A result as JSON text.
#[cfg(target_arch = "wasm32")]
pub(crate) fn text(result: &impl Serialize) -> Result<String> {
    serde_json::to_string(result).map_err(|error| Error::new(Code::InternalError, error.to_string()))
}
