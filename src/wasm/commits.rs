//! Commits: the graph, materialization and the checkpointer.
//!
//! Records and requests cross as JSON text, so that unknown fields are preserved; blobs cross as bytes, once.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::call::{answer, written};
use super::error::Thrown;
use crate::commits::{self, AppendAction, CHECKPOINTER_CALLS, GRAPH_CALLS, Materializer, Verification, WALK_CALLS};
use crate::error::{Code, Error};

/// The ref of a blob.
#[wasm_bindgen(js_name = artifactRef)]
pub fn artifact_ref(blob: &[u8]) -> String {
    commits::artifact_ref(blob)
}

/// The short form of a ref.
#[wasm_bindgen(js_name = shortRef)]
pub fn short_ref(artifact_ref: &str) -> Thrown<String> {
    Ok(commits::short_ref(artifact_ref)?)
}

/// Records and queries; see `CommitGraph` in the package's types.
#[wasm_bindgen]
#[derive(Debug)]
pub struct CommitGraph(commits::CommitGraph);

#[wasm_bindgen]
impl CommitGraph {
    /// An empty graph, with options as JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &[u8]) -> Thrown<CommitGraph> {
        Ok(CommitGraph(commits::graph(options)?))
    }

    /// The number of commits.
    #[wasm_bindgen(getter)]
    pub fn size(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// Calls a method of [`GRAPH_CALLS`].
    pub fn call(&mut self, name: &str, request: &[u8], bytes: &JsValue) -> Thrown<JsValue> {
        answer(&[GRAPH_CALLS], &mut self.0, name, request, bytes, &JsValue::UNDEFINED)
    }

    /// Begins the materialization of a plan or a request.
    pub fn begin(&self, plan: &[u8]) -> Thrown<Materialization> {
        Ok(Materialization { work: Some(commits::begin(&self.0, plan)?), blob: Vec::new() })
    }
}

/// A walk over records that the host supplies; see `ChainWalk` in the package's types.
#[wasm_bindgen]
#[derive(Debug)]
pub struct ChainWalk(commits::ChainWalk);

#[wasm_bindgen]
impl ChainWalk {
    /// Creates a walk, with options as JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &[u8]) -> Thrown<ChainWalk> {
        Ok(ChainWalk(commits::walk(options)?))
    }

    /// The id of the record needed next.
    #[wasm_bindgen(getter)]
    pub fn wanted(&self) -> Option<String> {
        self.0.wanted().map(str::to_owned)
    }

    /// Calls a method of [`WALK_CALLS`].
    pub fn call(&mut self, name: &str, request: &[u8], bytes: &JsValue) -> Thrown<JsValue> {
        answer(&[WALK_CALLS], &mut self.0, name, request, bytes, &JsValue::UNDEFINED)
    }

    /// Begins the materialization of a plan or a request.
    pub fn begin(&self, plan: &[u8]) -> Thrown<Materialization> {
        Ok(Materialization { work: Some(commits::begin_walked(&self.0, plan)?), blob: Vec::new() })
    }
}

/// A running materialization.
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

    /// Takes the next blob. Returns 0 to append it to the result, 1 to append a newline and the blob, 2 to append
    /// nothing, 3 to verify the blob and to push it again. `verification` is 0 if the host cannot verify, 1 if it can,
    /// 2 for a confirmed blob, 3 for a refused one.
    pub fn push(&mut self, blob: &Uint8Array, verification: u32) -> Thrown<u32> {
        let Self { work: Some(work), blob: copy } = self else { return Err(finished().into()) };
        copy.resize(blob.length() as usize, 0);
        blob.copy_to(copy);
        let verification = match verification {
            0 => Verification::Unavailable,
            1 => Verification::Available,
            2 => Verification::Confirmed,
            _ => Verification::Refused,
        };
        Ok(match work.push_verified(copy, verification)? {
            AppendAction::Append => 0,
            AppendAction::AppendAfterNewline => 1,
            AppendAction::Consumed => 2,
            AppendAction::Verify => 3,
        })
    }

    /// The error for the next blob if it is missing.
    pub fn missing(&self) -> JsValue {
        self.work.as_ref().map_or_else(finished, Materializer::missing).into()
    }

    /// The result, as from [`super::call::call`]; with `bytes` unless the caller appended the blobs.
    pub fn finish(&mut self) -> Thrown<JsValue> {
        self.blob = Vec::new();
        let result = self.work.take().ok_or_else(finished)?.finish()?;
        Ok(written(commits::materialized(result))?)
    }
}

fn finished() -> Error {
    Error::new(Code::InvalidInput, "this materialization is finished; begin another one")
}

/// Turns messages into commits; see `Checkpointer` in the package's types.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Checkpointer(commits::Checkpointer);

#[wasm_bindgen]
impl Checkpointer {
    /// Begins or resumes a session, with options as JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &[u8]) -> Thrown<Checkpointer> {
        Ok(Checkpointer(commits::checkpointer(options)?))
    }

    /// The last stored commit.
    #[wasm_bindgen(getter)]
    pub fn head(&self) -> Option<String> {
        self.0.head().map(str::to_owned)
    }

    /// The number of messages pushed so far.
    #[wasm_bindgen(getter)]
    pub fn position(&self) -> f64 {
        self.0.position() as f64
    }

    /// Messages that are in no stored commit.
    #[wasm_bindgen(getter)]
    pub fn pending(&self) -> u32 {
        u32::try_from(self.0.pending()).unwrap_or(u32::MAX)
    }

    /// Takes a message.
    pub fn push(&mut self, message: &[u8]) -> Thrown<()> {
        Ok(self.0.push(message)?)
    }

    /// Calls a method of [`CHECKPOINTER_CALLS`].
    pub fn call(&mut self, name: &str, request: &[u8], bytes: &JsValue) -> Thrown<JsValue> {
        answer(&[CHECKPOINTER_CALLS], &mut self.0, name, request, bytes, &JsValue::UNDEFINED)
    }
}
