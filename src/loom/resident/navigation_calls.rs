//! Queries about the nodes of a resident tree, as calls: for one id, or for a list of them at once.

use serde::Serialize;

use super::handle::{Handle, ResolvedOptions};
use super::loom_tree::LoomTree;
use super::navigate::Relative;
use crate::call::{Call, CallContext, Response};
use crate::error::Result;
use crate::json::Value;
use crate::loom::read::RequestKind;

/// The methods by name.
pub(super) const NAVIGATION: &[Call<Handle>] = &[
    Call::new("nodeIds", &[], |handle, _, _| Response::of(&handle.tree.node_ids())),
    Call::new("node", ID, |handle, request, _| {
        let ids = request.object("ids, an object")?.need("nodeId")?;
        each(ids, |id| handle.tree.written_node(id))
    }),
    Call::new("roots", &[], |handle, _, _| Response::of(&handle.tree.roots())),
    Call::new("leaves", &[], |handle, _, _| Response::of(&handle.tree.leaves())),
    Call::new("children", ID, |handle, request, _| relatives(handle, request, LoomTree::children)),
    Call::new("parents", ID, |handle, request, _| relatives(handle, request, LoomTree::parents)),
    Call::new("siblings", ID, |handle, request, _| relatives(handle, request, LoomTree::siblings)),
    Call::new("descendants", ID, |handle, request, _| relatives(handle, request, LoomTree::descendants)),
    Call::new("versions", ID, |handle, request, _| relatives(handle, request, LoomTree::versions)),
    Call::new("depth", ID, depth),
    Call::new("commonAncestor", &["a", "b"], |handle, request, _| {
        let request = request.object("two ids, an object")?;
        Response::of(&handle.tree.common_ancestor(&request.text("a")?, &request.text("b")?)?)
    }),
    Call::new("nextSibling", &["nodeId", "options"], |handle, request, host| sibling(handle, request, host, true)),
    Call::new("previousSibling", &["nodeId", "options"], |handle, request, host| sibling(handle, request, host, false)),
    Call::new("tokensOf", COSTS, |handle, request, host| {
        let (asked, ids) = costs(handle, request, host)?;
        let tree = &handle.tree;
        let tokens = tree.tokens_of(ids.as_deref(), &asked.options, &asked.counter(tree.memory()))?;
        Ok(numbers(tokens.into_iter().flat_map(u32::to_le_bytes)))
    }),
    Call::new("pathTokens", COSTS, |handle, request, host| {
        let (asked, ids) = costs(handle, request, host)?;
        let tree = &handle.tree;
        let tokens = tree.path_tokens(ids.as_deref(), &asked.options, &asked.counter(tree.memory()))?;
        Ok(numbers(tokens.into_iter().flat_map(f64::to_le_bytes)))
    }),
    Call::new("subtreeTokens", COSTS, |handle, request, host| {
        let (asked, ids) = costs(handle, request, host)?;
        let tree = &handle.tree;
        let tokens = tree.subtree_tokens(ids.as_deref(), &asked.options, &asked.counter(tree.memory()))?;
        Ok(numbers(tokens.into_iter().flat_map(f64::to_le_bytes)))
    }),
    Call::new("measurePaths", &["tips", "options"], |handle, request, host| {
        let request = request.object("tips and options, an object")?;
        let tips = request.need("tips")?.strings()?;
        let asked = handle.options_without_report(request.get("options")?, RequestKind::Tips, host)?;
        let counter = asked.counter(handle.tree.memory());
        Response::of(&handle.tree.measure_paths(&tips, asked.options.clone(), &counter)?)
    }),
];

const ID: &[&str] = &["nodeId"];
const COSTS: &[&str] = &["nodeIds", "options"];

/// Answers for the given id, or for each of a list.
fn each<T: Serialize>(ids: Value<'_>, answer: impl Fn(&str) -> Result<T>) -> Result<Response> {
    if let Some(id) = ids.as_text() {
        return Response::of(&answer(&id)?);
    }
    let ids = ids.list("an id or a list of ids")?;
    Response::of(&ids.read(|id| answer(&id.text()?))?)
}

fn relatives(
    handle: &mut Handle,
    request: Value<'_>,
    find: for<'t> fn(&'t LoomTree, &str) -> Result<Vec<Relative<'t>>>,
) -> Result<Response> {
    let ids = request.object("ids, an object")?.need("nodeId")?;
    let tree = &handle.tree;
    each(ids, |id| find(tree, id))
}

fn depth(handle: &mut Handle, request: Value<'_>, _: &CallContext) -> Result<Response> {
    let ids = request.object("ids, an object")?.need("nodeId")?;
    each(ids, |id| handle.tree.depth(id))
}

fn sibling(handle: &mut Handle, request: Value<'_>, host: &CallContext, next: bool) -> Result<Response> {
    let request = request.object("ids and options, an object")?;
    let asked = handle.options_without_report(request.get("options")?, RequestKind::Tree, host)?;
    let tree = &handle.tree;
    each(request.need("nodeId")?, |id| tree.sibling(id, &asked.options.choices, next))
}

/// The options and the ids of a query for costs; no ids if it is about all nodes.
fn costs(
    handle: &mut Handle,
    request: Value<'_>,
    host: &CallContext,
) -> Result<(ResolvedOptions, Option<Vec<String>>)> {
    let request = request.object("ids and options, an object")?;
    let asked = handle.options_without_report(request.get("options")?, RequestKind::Tree, host)?;
    Ok((asked, request.read("nodeIds", Value::strings)?))
}

fn numbers(bytes: impl Iterator<Item = u8>) -> Response {
    Response { json: Vec::new(), bytes: vec![bytes.collect()], small: None }
}
