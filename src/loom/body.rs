//! The body of a provider's request, from a tree (docs/bodies.md).

use crate::assembly::body::{PreviousBody, body, with_fallback};
use crate::assembly::plan::Planned;
use crate::assembly::series::Prefix;
use crate::error::{Diagnostic, Result};
use crate::loom::buffer::{BufferAssembly, assemble_buffer};
use crate::loom::dialogue::{DialoguePlan, Purpose, plan_dialogue};
use crate::loom::dialogue_state::DialogueState;
use crate::loom::fit_state::FitState;
use crate::loom::path_context::PathContext;
use crate::loom::report::Report;
use crate::loom::request::Options;
use crate::loom::select::Mode;
use crate::loom::tree::Tree;
use crate::prompt::bodies::{Provider, Target, write_completion};
use crate::tokens::Counter;

/// The body of a request, and its report.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestBody<'a> {
    /// JSON in UTF-8, ready to be sent.
    pub bytes: Vec<u8>,
    /// The report of the assembly; its diagnostics include content that the provider cannot express.
    pub report: Report<'a>,
    /// The state for the next dialogue of a series; absent without [`Options::previous`].
    pub state: Option<FitState>,
}

/// Assembles the path and writes the body for a target: a document for a plain completion, messages for all others.
///
/// # Errors
/// The errors of [`assemble_dialogue`](crate::loom::assemble_dialogue) and [`assemble_buffer`].
pub fn request_body<'a>(
    tree: &'a Tree<'a>,
    options: &'a Options,
    target: &Target,
    counter: &'a dyn Counter,
) -> Result<RequestBody<'a>> {
    if target.provider == Provider::Completion {
        let assembly = assemble_buffer(tree, options, counter)?;
        let (bytes, diagnostics) = body_of_buffer(&assembly, target)?;
        let mut report = assembly.report;
        report.diagnostics.extend(diagnostics);
        return Ok(RequestBody { bytes, report, state: None });
    }
    let context = PathContext::new(tree, options, Mode::Dialogue, counter).for_target(target);
    plan_dialogue(context, &mut DialogueState::default(), Purpose::Send, |plan| {
        let mut planned = plan.choose()?;
        let mut report = plan.report(&mut planned, None);
        let bytes = body_of(&plan, &planned, target, report.prefix.as_ref(), &mut report.diagnostics)?;
        Ok(RequestBody { bytes, report, state: plan.fit_state(&planned) })
    })
}

/// Like [`request_body`], without a report.
///
/// # Errors
/// As [`request_body`].
pub fn request_body_bytes(tree: &Tree, options: &Options, target: &Target, counter: &dyn Counter) -> Result<Vec<u8>> {
    if target.provider == Provider::Completion {
        return Ok(request_body(tree, options, target, counter)?.bytes);
    }
    let context = PathContext::new(tree, options, Mode::Dialogue, counter).for_target(target);
    plan_dialogue(context, &mut DialogueState::default(), Purpose::SendUncounted, |plan| {
        let mut planned = plan.choose()?;
        let prefix = plan.compare(&mut planned, None);
        body_of(&plan, &planned, target, prefix.as_ref(), &mut Vec::new())
    })
}

fn body_of<'a>(
    plan: &DialoguePlan<'_, 'a>,
    planned: &Planned<'a>,
    target: &Target,
    prefix: Option<&Prefix>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<u8>> {
    let hints = plan.plan.hints(planned, prefix);
    Ok(body(&plan.plan, planned, target, &hints, &PreviousBody::default(), diagnostics)?.0.bytes)
}

/// The body for an assembled document, and the diagnostics of writing it.
///
/// # Errors
/// [`InvalidInput`](crate::Code::InvalidInput) if the target takes messages.
pub fn body_of_buffer(assembly: &BufferAssembly<'_>, target: &Target) -> Result<(Vec<u8>, Vec<Diagnostic>)> {
    let target = with_fallback(target, assembly.report.preferences.token_buffer);
    let mut diagnostics = Vec::new();
    let bytes = write_completion(assembly.system.as_deref(), &assembly.document, &target, &mut diagnostics)?;
    Ok((bytes, diagnostics))
}
