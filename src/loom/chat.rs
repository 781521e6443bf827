//! A path of a tree as a chat, in any format (docs/loom.md).

use std::convert::identity;

use super::{Options, Preferences, SystemPlacement, assemble_dialogue, read};
use crate::call::{CallContext, Response};
use crate::error::Result;
use crate::json::Value;
use crate::limits::Limits;
use crate::prompt::bodies::{chat_json, write_chat};
use crate::vendors::format::FORMATS;

/// The options that select the path and its meaning.
const OPTIONS: &[&str] = &[
    "tip",
    "path",
    "choices",
    "versionSelections",
    "includeAnnotations",
    "pendingSources",
    "instructionScope",
    "agent",
    "media",
    "limits",
    "format",
];

pub(super) fn to_chat(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let mut diagnostics = request.repaired();
    let request = request.object("a tree and options, an object")?;
    let options = request.need("options")?.object("options, an object")?;
    options.report_unknown(OPTIONS, &mut diagnostics);
    let format = options.need("format")?.one_of(FORMATS)?;
    let limits = Limits::read(options.get("limits")?, &mut diagnostics)?;
    let tree = read::tree(request.need("tree")?, &limits, identity)?;
    let (options, _) = read::options(options, read::RequestKind::Path, limits, &mut Vec::new())?;
    // The other options of an assembly were reported above.
    let options = Options {
        context_window: f64::from(u32::MAX),
        preferences: Preferences::default(),
        app_preferences: Preferences::default(),
        loom_aware: None,
        system_placement: SystemPlacement::Field,
        ..options
    };
    let counter = host.counter(None)?;
    let dialogue = assemble_dialogue(&tree, &options, counter.as_ref())?;
    diagnostics.extend_from_slice(&dialogue.report.diagnostics);
    let written = write_chat(dialogue.system.as_deref(), &dialogue.messages, format, "", &mut diagnostics)?;
    let json = chat_json(Some(&written.messages), written.system.as_deref(), &diagnostics);
    Ok(Response { json, bytes: Vec::new(), small: None })
}
