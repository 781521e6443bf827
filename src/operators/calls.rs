//! The calls of this area: requests read from JSON, results written as JSON.

use crate::call::{Call, CallContext, Response};
use crate::error::{self, Diagnostic, Result};
use crate::json::{Value, refuse_unknown};
use crate::limits::{Limits, XML_DEPTH_MAX};

use super::assemble::{begin, finish};
use super::explain::explain;
use super::failure::{reduce_failure, sequential_failure};
use super::parse::{parse_bytes, parse_task};
use super::read;
use super::write::{without_source, write_source};
use super::xml::place_of;

/// The calls by name.
pub const CALLS: &[Call] = &[
    Call::new("parseTask", &["xml", "options"], |_, request, _| parse(request)),
    Call::new("writeTask", &[], |_, request, _| write(request)),
    Call::new("explainTask", &[], |_, request, _| Response::of(&explain(&strict(request, read::task)?))),
    Call::new("beginContextAssembly", &[], |_, request, host| begin_assembly(request, host)),
    Call::new("finishContextAssembly", &["state", "answer", "options"], |_, request, host| {
        finish_assembly(request, host)
    }),
    Call::new("sequentialFailure", &[], |_, request, _| {
        Response::of(&sequential_failure(strict(request, read::sequential_failure)?))
    }),
    Call::new("reduceFailure", &[], |_, request, _| {
        Response::of(&reduce_failure(strict(request, read::reduce_failure)?))
    }),
    Call::new("startRun", &[], |_, request, _| Response::of(&strict(request, read::run)?)),
    // The state from an earlier call has no options.
    Call::new("nextRequest", &[], |_, request, _| Response::of(&read::run(request, &mut Vec::new())?.next())),
    Call::new("nextRequests", &["run", "limit"], |_, request, _| next_requests(request)),
    Call::new("recordResult", &["run", "result"], |_, request, _| record_result(request)),
];

/// Reads a request of a call without diagnostics: unknown options are errors.
fn strict<'t, T>(request: Value<'t>, read: impl FnOnce(Value<'t>, &mut Vec<Diagnostic>) -> Result<T>) -> Result<T> {
    let mut diagnostics = Vec::new();
    let read = read(request, &mut diagnostics)?;
    refuse_unknown(&diagnostics)?;
    Ok(read)
}

fn parse(request: Value<'_>) -> Result<Response> {
    let mut found = request.repaired();
    let request = request.object("a template and options, an object")?;
    let xml = request.need("xml")?;
    let options = request.read("options", |options| read::parse_options(options, &mut found))?.unwrap_or_default();
    let mut parsed = match (xml.as_text(), xml.bytes()) {
        (Some(text), _) => {
            let place = xml.first_repaired().map(|at| place_of(&text, at));
            for repaired in found.iter_mut().filter(|found| found.path.as_deref() == Some("xml")) {
                (repaired.line, repaired.column) = place.map(|place| (place.line, place.column)).unzip();
            }
            parse_task(&text, &options)?
        }
        (None, Some(bytes)) => parse_bytes(&bytes, &options)?,
        (None, None) => return Err(xml.mismatch("a string or bytes")),
    };
    error::put_before(found, &mut parsed.diagnostics);
    Response::of(&parsed)
}

fn write(request: Value<'_>) -> Result<Response> {
    let source = request.object("a task, an object")?.get("source")?.ok_or_else(without_source)?;
    // A task that was read under wider limits than the defaults can still be written.
    let limits = Limits {
        xml_bytes: u32::MAX,
        xml_depth: XML_DEPTH_MAX,
        xml_elements: u32::MAX,
        xml_attributes: u32::MAX,
        ..Limits::default()
    };
    Response::of(&write_source(&source.text()?, limits)?)
}

fn begin_assembly(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let mut diagnostics = request.repaired();
    let mut begun = begin(&read::assembly(request, host, &mut diagnostics)?, host)?;
    error::put_before(diagnostics, begun.diagnostics_mut());
    Response::of(&begun)
}

fn finish_assembly(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let input = request.object("a state and an answer, an object")?;
    if let Some(options) = input.get("options")? {
        options.object("options, an object")?.only(&["tokenizer"])?;
    }
    let mut state = read::state(input.need("state")?, host)?;
    state.pending.diagnostics.extend(request.repaired());
    Response::of(&finish(state, read::answer(input.need("answer")?)?, host)?)
}

fn next_requests(request: Value<'_>) -> Result<Response> {
    let input = request.object("a run and a limit, an object")?;
    let run = read::run(input.need("run")?, &mut Vec::new())?;
    Response::of(&run.upcoming(input.need("limit")?.whole(u32::MAX)? as usize))
}

fn record_result(request: Value<'_>) -> Result<Response> {
    let input = request.object("a run and a result, an object")?;
    let run = read::run(input.need("run")?, &mut Vec::new())?;
    Response::of(&run.record(read::run_result(input.need("result")?)?)?)
}
