//! From an assembly to the body of a provider's request (SPEC §1 "Provider bodies").

use crate::error::{Diagnostic, Result};
use crate::loom::dialogue::{DialogueAssembly, assemble_messages};
use crate::loom::report::Report;
use crate::loom::request::Options;
use crate::loom::tree::Tree;
use crate::loom::{BufferAssembly, assemble_buffer, assemble_dialogue};
use crate::prompt::bodies::{Hints, Provider, Target, write_body, write_completion};
use crate::prompt::{Message, Role};
use crate::tokens::Counter;

/// The body of a request, and the account of what is in it.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestBody<'a> {
    /// JSON in UTF-8, ready to be sent.
    pub bytes: Vec<u8>,
    /// That of the assembly; its diagnostics include what the provider cannot express.
    pub report: Report<'a>,
}

/// Assembles the path and writes the body for a target: a document for a plain completion, messages for all others.
///
/// # Errors
/// Those of [`assemble_dialogue`] and [`assemble_buffer`].
pub fn request_body<'a>(
    tree: &'a Tree<'a>,
    options: &'a Options,
    target: &Target,
    counter: &'a dyn Counter,
) -> Result<RequestBody<'a>> {
    let (bytes, mut report, diagnostics) = if target.provider == Provider::Completion {
        let assembly = assemble_buffer(tree, options, counter)?;
        let (bytes, diagnostics) = body_of_buffer(&assembly, target)?;
        (bytes, assembly.report, diagnostics)
    } else {
        let assembly = assemble_dialogue(tree, options, counter)?;
        let (bytes, diagnostics) = body_of_dialogue(&assembly, target)?;
        (bytes, assembly.report, diagnostics)
    };
    report.diagnostics.extend(diagnostics);
    Ok(RequestBody { bytes, report })
}

/// The same bytes, where nobody asks for the report.
///
/// # Errors
/// As [`request_body`].
pub fn request_body_bytes(tree: &Tree, options: &Options, target: &Target, counter: &dyn Counter) -> Result<Vec<u8>> {
    if target.provider == Provider::Completion {
        return Ok(request_body(tree, options, target, counter)?.bytes);
    }
    let assembly = assemble_messages(tree, options, counter)?;
    Ok(body_of_dialogue(&assembly, target)?.0)
}

/// The body for an assembled dialogue, and what was found in writing it.
///
/// # Errors
/// [`InvalidInput`](crate::Code::InvalidInput) when the target takes a document.
pub fn body_of_dialogue(assembly: &DialogueAssembly<'_>, target: &Target) -> Result<(Vec<u8>, Vec<Diagnostic>)> {
    let DialogueAssembly { system, messages, report } = assembly;
    let target = with_fallback(target, report.preferences.token_buffer);
    let hints = Hints {
        stable: report.cache.as_ref().map_or(0, |cache| cache.messages),
        before_cut: before_cut(messages, report),
    };
    let mut diagnostics = Vec::new();
    let bytes = write_body(system.as_deref(), messages, &target, &hints, &mut diagnostics)?;
    Ok((bytes, diagnostics))
}

/// The body for an assembled document, and what was found in writing it.
///
/// # Errors
/// [`InvalidInput`](crate::Code::InvalidInput) when the target takes messages.
pub fn body_of_buffer(assembly: &BufferAssembly<'_>, target: &Target) -> Result<(Vec<u8>, Vec<Diagnostic>)> {
    let target = with_fallback(target, assembly.report.preferences.token_buffer);
    let mut diagnostics = Vec::new();
    let bytes = write_completion(assembly.system.as_deref(), &assembly.document, &target, &mut diagnostics)?;
    Ok((bytes, diagnostics))
}

/// Where nothing is said about the length of the answer, it is what was kept free for it.
pub(crate) fn with_fallback(target: &Target, token_buffer: u64) -> Target {
    Target { fallback_max_tokens: token_buffer, ..target.clone() }
}

/// How many messages come before the cut and hold nothing from behind it: they stay as they are while the cut does.
fn before_cut(messages: &[Message<'_>], report: &Report<'_>) -> Option<usize> {
    let first_cut = report.cut.as_ref()?.node_ids.first()?;
    let before = report.nodes.iter().take_while(|node| node.node_id != *first_cut);
    let (node, at) = before.filter_map(|node| Some((node.node_id, node.message?))).last()?;
    let message = messages.get(at)?;
    // A marker is the user's, and joins a user message.
    let open = message.role == Role::User || message.node_ids.last() != Some(&node);
    Some(if open { at } else { at + 1 })
}
