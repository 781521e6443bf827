//! Commits: the graph, materialisation and the checkpointer.
//!
//! Records and requests cross as JSON text, so that a field that is not known stays what it is; blobs cross as bytes, once.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::call::{answer, written};
use super::error::throw;
use crate::commits::{self, AppendAction, CHECKPOINTER_CALLS, GRAPH_CALLS, Materializer};
use crate::error::{Code, Error, Result};

fn thrown<T>(result: Result<T>) -> std::result::Result<T, JsValue> {
    result.map_err(|error| throw(&error))
}

/// The ref of a blob.
#[wasm_bindgen(js_name = artifactRef)]
pub fn artifact_ref(blob: &[u8]) -> String {
    commits::artifact_ref(blob)
}

/// The short form of a ref.
#[wasm_bindgen(js_name = shortRef)]
pub fn short_ref(artifact_ref: &str) -> std::result::Result<String, JsValue> {
    thrown(commits::short_ref(artifact_ref))
}

/// Records, and what can be asked of them; see `CommitGraph` in the package's types.
#[wasm_bindgen]
#[derive(Debug)]
pub struct CommitGraph(commits::CommitGraph);

#[wasm_bindgen]
impl CommitGraph {
    /// An empty graph, with options as JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &[u8]) -> std::result::Result<CommitGraph, JsValue> {
        thrown(commits::graph(options).map(CommitGraph))
    }

    /// How many commits there are.
    #[wasm_bindgen(getter)]
    pub fn size(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// Calls a method of [`GRAPH_CALLS`].
    pub fn call(&mut self, name: &str, request: &[u8], bytes: &JsValue) -> std::result::Result<JsValue, JsValue> {
        answer(&[GRAPH_CALLS], &mut self.0, name, request, bytes, &JsValue::UNDEFINED)
    }

    /// Begins what a plan or a request describes.
    pub fn begin(&self, plan: &[u8]) -> std::result::Result<Materialization, JsValue> {
        let work = thrown(commits::begin(&self.0, plan))?;
        Ok(Materialization { work: Some(work), blob: Vec::new() })
    }
}

/// A materialisation that is under way.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Materialization {
    work: Option<Materializer>,
    /// A buffer for the blobs.
    blob: Vec<u8>,
}

#[wasm_bindgen]
impl Materialization {
    /// The refs of the blobs to push, in order.
    pub fn order(&self) -> Array {
        self.work.iter().flat_map(|work| work.order()).map(JsValue::from_str).collect()
    }

    /// Takes the next blob: 0 when it comes next in the result, 1 when a newline comes before it, 2 when the result will
    /// have its bytes.
    pub fn push(&mut self, blob: &Uint8Array) -> std::result::Result<u32, JsValue> {
        let Self { work: Some(work), blob: copy } = self else { return Err(finished()) };
        copy.resize(blob.length() as usize, 0);
        blob.copy_to(copy);
        thrown(work.push(copy)).map(|action| match action {
            AppendAction::Append => 0,
            AppendAction::AppendAfterNewline => 1,
            AppendAction::Consumed => 2,
        })
    }

    /// The error for the next blob when it is not there.
    pub fn missing(&self) -> JsValue {
        self.work.as_ref().map_or_else(finished, |work| throw(&work.missing()))
    }

    /// The result as [`super::call::call`] gives one; with `bytes` unless the caller appended the blobs.
    pub fn finish(&mut self) -> std::result::Result<JsValue, JsValue> {
        let result = self.work.take().ok_or_else(finished_error).and_then(Materializer::finish);
        self.blob = Vec::new();
        thrown(result.map(commits::materialized).and_then(written))
    }
}

fn finished_error() -> Error {
    Error::new(Code::InvalidInput, "this materialisation is over; begin another one")
}

fn finished() -> JsValue {
    throw(&finished_error())
}

/// Turns messages into commits; see `Checkpointer` in the package's types.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Checkpointer(commits::Checkpointer);

#[wasm_bindgen]
impl Checkpointer {
    /// Begins or goes on with a session, with options as JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &[u8]) -> std::result::Result<Checkpointer, JsValue> {
        thrown(commits::checkpointer(options).map(Checkpointer))
    }

    /// The last stored commit.
    #[wasm_bindgen(getter)]
    pub fn head(&self) -> Option<String> {
        self.0.head().map(str::to_owned)
    }

    /// Messages that went in so far.
    #[wasm_bindgen(getter)]
    pub fn position(&self) -> f64 {
        self.0.position() as f64
    }

    /// Messages that no stored commit holds.
    #[wasm_bindgen(getter)]
    pub fn pending(&self) -> u32 {
        u32::try_from(self.0.pending()).unwrap_or(u32::MAX)
    }

    /// Takes a message.
    pub fn push(&mut self, message: &[u8]) -> std::result::Result<(), JsValue> {
        thrown(self.0.push(message))
    }

    /// Calls a method of [`CHECKPOINTER_CALLS`].
    pub fn call(&mut self, name: &str, request: &[u8], bytes: &JsValue) -> std::result::Result<JsValue, JsValue> {
        answer(&[CHECKPOINTER_CALLS], &mut self.0, name, request, bytes, &JsValue::UNDEFINED)
    }
}
