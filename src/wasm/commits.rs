//! Commits: the graph, materialisation and the checkpointer.
//!
//! Records and requests cross as JSON text that JavaScript writes and reads, so that a field that is not known stays what
//! it is; blobs cross as bytes, once.

use js_sys::{Array, JSON, Object, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;

use super::data::throw;
use crate::commits::wire;
use crate::commits::{self, AppendAction, Materializer};
use crate::error::{Code, Error, Result};

/// The JSON text of a value; empty for undefined.
fn text(value: &JsValue) -> Result<String> {
    if value.is_undefined() {
        return Ok(String::new());
    }
    let text = JSON::stringify(value).ok().and_then(|text| text.as_string());
    text.ok_or_else(|| Error::new(Code::InvalidInput, "the request must be plain data: no BigInt, no cycles"))
}

fn thrown<T>(result: Result<T>) -> std::result::Result<T, JsValue> {
    result.map_err(|error| throw(&error))
}

/// What JSON text says.
fn parsed(text: Result<String>) -> std::result::Result<JsValue, JsValue> {
    JSON::parse(&thrown(text)?)
}

fn parsed_option(text: Result<Option<String>>) -> std::result::Result<JsValue, JsValue> {
    thrown(text)?.map_or(Ok(JsValue::UNDEFINED), |text| JSON::parse(&text))
}

/// Adds bytes to a result.
fn with_bytes(object: JsValue, key: &str, bytes: &[u8]) -> std::result::Result<JsValue, JsValue> {
    let copy = Object::new();
    Reflect::set(&copy, &key.into(), &Uint8Array::from(bytes))?;
    Ok(Object::assign(&copy, object.unchecked_ref()).into())
}

/// The ref of a blob.
#[wasm_bindgen(js_name = artifactRef)]
pub fn artifact_ref(blob: &[u8]) -> String {
    commits::artifact_ref(blob)
}

/// The short form of a ref.
///
/// # Errors
/// `{ code, message, details }`.
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
    /// An empty graph.
    ///
    /// # Errors
    /// `{ code, message, details }`, as of every method.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &JsValue) -> std::result::Result<CommitGraph, JsValue> {
        thrown(text(options).and_then(|options| wire::new_graph(&options)).map(CommitGraph))
    }

    /// How many commits there are.
    #[wasm_bindgen(getter)]
    pub fn size(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// Adds a commit.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    pub fn checkpoint(&mut self, request: &JsValue) -> std::result::Result<JsValue, JsValue> {
        parsed(text(request).and_then(|request| wire::checkpoint(&mut self.0, &request)))
    }

    /// A record.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    pub fn show(&self, id: &str) -> std::result::Result<JsValue, JsValue> {
        parsed(wire::show(&self.0, id))
    }

    /// From a commit to the root.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    pub fn history(&self, id: &str, options: &JsValue) -> std::result::Result<JsValue, JsValue> {
        parsed(text(options).and_then(|options| wire::history(&self.0, id, &options)))
    }

    /// The latest commit of a principal at or before a time.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    pub fn resolve(&self, principal: &str, time: &str) -> std::result::Result<JsValue, JsValue> {
        parsed_option(wire::resolve(&self.0, principal, time))
    }

    /// Changes summary or tags.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = updateMetadata)]
    pub fn update_metadata(&mut self, id: &str, fields: &JsValue) -> std::result::Result<JsValue, JsValue> {
        parsed(text(fields).and_then(|fields| wire::update_metadata(&mut self.0, id, &fields)))
    }

    /// A list by its name; see [`wire::records`].
    ///
    /// # Errors
    /// `{ code, message, details }`.
    pub fn records(&self, which: &str, of: &str) -> std::result::Result<JsValue, JsValue> {
        parsed(wire::records(&self.0, which, of))
    }

    /// The last commit that two chains share.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = commonAncestor)]
    pub fn common_ancestor(&self, one: &str, other: &str) -> std::result::Result<JsValue, JsValue> {
        parsed_option(wire::common_ancestor(&self.0, one, other))
    }

    /// The refs that the chains of these commits need.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = reachableArtifacts)]
    pub fn reachable_artifacts(&self, tips: &JsValue) -> std::result::Result<JsValue, JsValue> {
        parsed(text(tips).and_then(|tips| wire::reachable_artifacts(&self.0, &tips)))
    }

    /// The full ref that a ref stands for.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = resolveArtifact)]
    pub fn resolve_artifact(&self, artifact_ref: &str) -> std::result::Result<String, JsValue> {
        thrown(self.0.resolve_artifact(artifact_ref))
    }

    /// Adds the records of a JSONL text.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = importJsonl)]
    pub fn import_jsonl(&mut self, text: &[u8]) -> std::result::Result<JsValue, JsValue> {
        parsed(wire::import_jsonl(&mut self.0, text))
    }

    /// All records as JSONL.
    #[wasm_bindgen(js_name = exportJsonl)]
    pub fn export_jsonl(&self) -> Uint8Array {
        Uint8Array::from(self.0.export_jsonl().as_slice())
    }

    /// Which blobs a materialisation takes.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = planMaterialization)]
    pub fn plan_materialization(&self, request: &JsValue) -> std::result::Result<JsValue, JsValue> {
        parsed(text(request).and_then(|request| wire::plan(&self.0, &request)))
    }

    /// Begins what a plan describes.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    pub fn begin(&self, plan: &JsValue) -> std::result::Result<Materialization, JsValue> {
        let work = thrown(text(plan).and_then(|plan| wire::begin(&self.0, &plan)))?;
        Ok(Materialization { work: Some(work), blob: Vec::new() })
    }

    /// Makes a snapshot of a result.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    pub fn snapshot(
        &mut self,
        plan: &JsValue,
        result: &JsValue,
        fields: &JsValue,
    ) -> std::result::Result<JsValue, JsValue> {
        let mut made = || wire::snapshot(&mut self.0, &text(plan)?, &text(result)?, &text(fields)?);
        parsed(made())
    }
}

/// A materialisation that is under way.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Materialization {
    work: Option<Materializer>,
    /// Where each blob is copied to: the one copy that is made of it here.
    blob: Vec<u8>,
}

#[wasm_bindgen]
impl Materialization {
    /// The refs of the blobs to push, in order.
    pub fn order(&self) -> Array {
        self.work.iter().flat_map(|work| work.order()).map(JsValue::from_str).collect()
    }

    /// Takes the next blob: 0 when it comes next in the result, 1 when a newline comes before it, 2 when it was taken
    /// in.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    pub fn push(&mut self, blob: &Uint8Array) -> std::result::Result<u32, JsValue> {
        let Self { work: Some(work), blob: copy } = self else { return Err(finished()) };
        copy.resize(blob.length() as usize, 0);
        blob.copy_to(copy);
        thrown(work.push(copy)).map(|piece| match piece {
            AppendAction::Append => 0,
            AppendAction::AppendAfterNewline => 1,
            AppendAction::Consumed => 2,
        })
    }

    /// The error for the next blob when it is not there.
    pub fn missing(&self) -> JsValue {
        self.work.as_ref().map_or_else(finished, |work| throw(&work.missing()))
    }

    /// The result; with `bytes` unless its pieces went to the caller.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    pub fn finish(&mut self) -> std::result::Result<JsValue, JsValue> {
        let result = thrown(self.work.take().ok_or_else(finished_error).and_then(Materializer::finish))?;
        self.blob = Vec::new();
        let object = parsed(Ok(wire::materialized(&result)))?;
        if result.bytes.is_empty() { Ok(object) } else { with_bytes(object, "bytes", &result.bytes) }
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
    /// Begins or goes on with a session.
    ///
    /// # Errors
    /// `{ code, message, details }`, as of every method.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &JsValue) -> std::result::Result<Checkpointer, JsValue> {
        thrown(text(options).and_then(|options| wire::new_checkpointer(&options)).map(Checkpointer))
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
    ///
    /// # Errors
    /// `{ code, message, details }`.
    pub fn push(&mut self, message: &[u8]) -> std::result::Result<(), JsValue> {
        thrown(self.0.push(message))
    }

    /// What is due because something happened.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    pub fn checkpoint(&mut self, trigger: &str, fields: &JsValue) -> std::result::Result<Array, JsValue> {
        offers(text(fields).and_then(|fields| wire::checkpoint_due(&mut self.0, trigger, &fields)))
    }

    /// The commits of a compaction.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    pub fn compact(&mut self, summary: &[u8], fields: &JsValue) -> std::result::Result<Array, JsValue> {
        offers(text(fields).and_then(|fields| wire::compact(&mut self.0, summary, &fields)))
    }

    /// The host has stored a commit.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    pub fn stored(&mut self, id: &str) -> std::result::Result<(), JsValue> {
        thrown(self.0.stored(id))
    }
}

fn offers(offered: Result<Vec<commits::PendingCommit>>) -> std::result::Result<Array, JsValue> {
    let offers = Array::new();
    for offered in thrown(offered)? {
        let object = parsed(Ok(wire::pending_commit(&offered)))?;
        Reflect::set(&object, &"blob".into(), &Uint8Array::from(offered.blob.as_slice()))?;
        offers.push(&object);
    }
    Ok(offers)
}
