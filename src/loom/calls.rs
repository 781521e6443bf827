//! The calls of this area: requests read from JSON, results written as JSON.

use std::convert::identity;
use std::rc::Rc;

use serde::Serialize;

use super::continuation::continuation;
use super::fit_state::FitState;
use super::request::Options;
use super::tree::Tree;
use super::{RequestBody, assemble_buffer, assemble_dialogue, packed, read, request_body, request_body_bytes};
use crate::call::{Call, CallContext, Response};
use crate::error::{self, Diagnostic, Result};
use crate::json::{Object, Value, bytes_reference, refuse_unknown};
use crate::limits::Limits;
use crate::prompt::bodies::Target;
use crate::tokens::Counter;

/// The calls by name.
pub const CALLS: &[Call] = &[
    Call::new("packDialogue", &[], |_, request, host| packed_dialogue(request, host, true)),
    Call::new("packDialogueWithTexts", &[], |_, request, host| packed_dialogue(request, host, false)),
    Call::new("assembleBuffer", &[], |_, request, host| buffer(request, host)),
    Call::new("requestBody", &[], |_, request, host| body(request, host)),
    Call::new("requestBodyWithReport", &[], |_, request, host| body_with_report(request, host)),
    Call::new("continuation", &["response", "options"], |_, request, _| Response::of(&continuation(request)?)),
];

/// Calls for the tests, which read results as JSON that the package takes packed.
pub const UNPACKED_CALLS: &[Call] = &[Call::new("assembleDialogue", &[], |_, request, host| dialogue(request, host))];

/// The calls that also require chats.
pub const CHAT_CALLS: &[Call] =
    &[Call::new("loomTreeToChat", &["tree", "options"], |_, request, host| super::chat::to_chat(request, host))];

pub(crate) fn answer_with_report(body: Vec<u8>, report: &impl Serialize, state: Option<&FitState>) -> Result<Response> {
    #[derive(Serialize)]
    struct WithReport<'a, R> {
        body: serde_json::Value,
        report: &'a R,
        #[serde(skip_serializing_if = "Option::is_none")]
        state: Option<&'a FitState>,
    }
    let Response { json, .. } = Response::of(&WithReport { body: bytes_reference(0), report, state })?;
    Ok(Response { json, bytes: vec![body], small: None })
}

struct Request<'t> {
    tree: Tree<'t>,
    options: Options,
    counter: Rc<dyn Counter>,
    target: Option<Target>,
    fields: Object<'t>,
    /// Repairs while reading, and unknown options.
    diagnostics: Vec<Diagnostic>,
}

impl<'t> Request<'t> {
    fn read(request: Value<'t>, host: &CallContext) -> Result<Self> {
        let mut diagnostics = request.repaired();
        let fields = request.object("an object")?;
        fields.report_unknown(read::OPTIONS, &mut diagnostics);
        let limits = Limits::read(fields.get("limits")?, &mut diagnostics)?;
        let tree = fields
            .get("tree")?
            .ok_or_else(|| read::chat_messages(fields).unwrap_or_else(|| read::lacks(fields, "tree")))?;
        let tree = read::tree(tree, &limits, identity)?;
        let (options, target) = read::options(fields, read::RequestKind::Assembly, limits, &mut diagnostics)?;
        let counter = host.counter(fields.get("tokenizer")?)?;
        Ok(Self { tree, options, counter, target, fields, diagnostics })
    }

    fn target(&self) -> Result<&Target> {
        self.target.as_ref().ok_or_else(|| read::lacks(self.fields, "target"))
    }
}

fn dialogue(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let mut request = Request::read(request, host)?;
    let mut result = assemble_dialogue(&request.tree, &request.options, request.counter.as_ref())?;
    error::put_before(std::mem::take(&mut request.diagnostics), &mut result.report.diagnostics);
    Response::of(&result)
}

/// The dialogue, packed. `has_nodes` if the caller has the nodes and their texts; it does unless strings were repaired.
fn packed_dialogue(request: Value<'_>, host: &CallContext, has_nodes: bool) -> Result<Response> {
    let has_nodes = has_nodes && request.repaired().is_empty();
    let mut request = Request::read(request, host)?;
    let mut result = assemble_dialogue(&request.tree, &request.options, request.counter.as_ref())?;
    error::put_before(std::mem::take(&mut request.diagnostics), &mut result.report.diagnostics);
    packed::assembly(has_nodes.then_some(&request.tree), &result)
}

fn buffer(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let mut request = Request::read(request, host)?;
    let mut result = assemble_buffer(&request.tree, &request.options, request.counter.as_ref())?;
    error::put_before(std::mem::take(&mut request.diagnostics), &mut result.report.diagnostics);
    Response::of(&result)
}

/// The body alone. A conversation that certainly fits is not counted.
fn body(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let request = Request::read(request, host)?;
    refuse_unknown(&request.diagnostics)?;
    let bytes = request_body_bytes(&request.tree, &request.options, request.target()?, request.counter.as_ref())?;
    Ok(Response { json: Vec::new(), bytes: vec![bytes], small: None })
}

fn body_with_report(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let mut request = Request::read(request, host)?;
    let diagnostics = std::mem::take(&mut request.diagnostics);
    let body = request_body(&request.tree, &request.options, request.target()?, request.counter.as_ref())?;
    let RequestBody { bytes, mut report, state } = body;
    error::put_before(diagnostics, &mut report.diagnostics);
    answer_with_report(bytes, &report, state.as_ref())
}
