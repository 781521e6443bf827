//! A resident tree as it is called from outside: with JSON, by the names of its methods in JavaScript
//! (docs/resident.md).

use std::rc::Rc;

use super::extra::{Extra, Extras, extras};
use super::{LoomTree, ReportSummary, TreeSize};
use crate::call::{Call, CallContext, Response, SmallResult};
use crate::content::{Media, own};
use crate::error::{self, Code, Diagnostic, Result};
use crate::json::{Document, Object, Value, refuse_unknown};
use crate::limits::Limits;
use crate::loom::calls::answer_with_report;
use crate::loom::fit_state::FitState;
use crate::loom::packed;
use crate::loom::read::{self, RequestKind};
use crate::loom::request::Options;
use crate::maps::SortedMap;
use crate::prompt::bodies::Target;
use crate::tokens::Counter;
use crate::tokens::memory::{CachingCounter, CounterId, Memory};

/// The methods for queries and settings.
pub(super) const QUESTIONS: &[Call<Handle>] = &[
    Call::new("diagnostics", &[], |handle, _, _| Response::of(&handle.diagnostics)),
    Call::new("size", &[], |handle, _, _| Ok(size(handle.tree.size()))),
    Call::new("configure", &[], |handle, request, host| handle.configure(request, host)),
    Call::new("path", &["tip", "options"], |handle, request, host| handle.path(request, host)),
    Call::new("measurePath", &[], |handle, request, host| handle.measure_path(request, host)),
    Call::new("wouldCut", &[], |handle, request, host| handle.would_cut(request, host)),
    Call::new("assembleBuffer", &[], |handle, request, host| handle.assemble_buffer(request, host)),
];

/// The methods whose results the package takes packed, by [`Handle::pack_dialogue`] and [`Handle::pack_body`], here as
/// JSON.
pub const UNPACKED: &[Call<Handle>] = &[
    Call::new("summarizeDialogue", &[], |handle, request, host| handle.summarize_dialogue(request, host)),
    Call::new("assembleDialogue", &[], |handle, request, host| handle.assemble_dialogue(request, host)),
    Call::new("requestBody", &[], |handle, request, host| handle.request_body(request, host)),
    Call::new("requestBodyWithReport", &[], |handle, request, host| handle.request_body_with_report(request, host)),
];

/// Settings of the tree itself; all others are defaults of the options.
const SETTINGS: &[&str] =
    &["title", "mode", "systemContext", "bufferModeSystemContext", "bufferPrefix", "preferences", "limits", "media"];

/// A resident tree, and its settings.
#[derive(Debug)]
pub struct Handle {
    pub(super) tree: LoomTree,
    pub(super) limits: Limits,
    media: Rc<SortedMap<String, Media<'static>>>,
    /// Repairs of the tree's JSON.
    diagnostics: Vec<Diagnostic>,
    /// The last custom counter, and the id of its cached counts.
    counter: Option<(Rc<dyn Counter>, CounterId)>,
}

#[derive(Debug)]
pub(super) struct ResolvedOptions {
    pub(super) options: Options,
    target: Option<Target>,
    counter: Rc<dyn Counter>,
    id: CounterId,
    /// Repairs of the options' JSON, and unknown options.
    diagnostics: Vec<Diagnostic>,
}

fn size(size: TreeSize) -> Response {
    let TreeSize { nodes, edges, text_bytes, texts, counts } = size;
    let number = |number: usize| Some(SmallResult::Number(number as u64));
    Response::small(SmallResult::Object(vec![
        ("nodes", number(nodes)),
        ("edges", number(edges)),
        ("textBytes", number(text_bytes)),
        ("texts", number(texts)),
        ("counts", number(counts)),
    ]))
}

impl ResolvedOptions {
    pub(super) fn counter(&self, memory: &Memory) -> CachingCounter<'_> {
        memory.remember_as(self.id, self.counter.as_ref())
    }
}

impl Handle {
    /// Creates a tree from its JSON text.
    ///
    /// # Errors
    /// Those of [`Tree::new`](crate::loom::Tree::new), and [`Code::InvalidInput`].
    pub fn from_json(text: &[u8], memory: &Memory) -> Result<Self> {
        let document = Document::read(text, &[])?;
        let document: &Document<'_> = &document;
        let limits = Limits::default();
        let mut tree = LoomTree::new(read::tree(document.root(), &limits, own)?, memory);
        let fields = document.root().object("a Loom tree, an object")?;
        tree.extra = Extra::of_tree(fields);
        tree.node_extras = Extras::of(extras(fields, "nodes", Extra::of_node)?);
        tree.edge_extras = Extras::of(extras(fields, "edges", Extra::of_edge)?);
        Ok(Self { tree, limits, media: Rc::default(), diagnostics: document.diagnostics(), counter: None })
    }

    /// The tree.
    pub fn tree(&self) -> &LoomTree {
        &self.tree
    }

    /// Changes settings: all of them or, on an error, none. Defaults of the options are included, so that errors are
    /// reported now.
    fn configure(&mut self, request: Value<'_>, host: &CallContext) -> Result<Response> {
        let fields = request.object("settings, an object")?;
        let known = [SETTINGS, read::resident_options()].concat();
        let mut diagnostics = request.repaired();
        self.read_fields(fields, &known, RequestKind::Tree, &mut diagnostics)?;
        match host.counter(fields.get("tokenizer")?) {
            // The vocabulary can be loaded until the first count.
            Err(error) if error.code() != Code::VocabularyNotLoaded => return Err(error),
            _ => {}
        }
        let mut settings = self.tree.tree().settings().clone();
        read::tree_settings(fields, &mut settings, Some(&mut diagnostics))?;
        let limits = match read::given(fields, "limits")? {
            Some(limits) => Limits::read(limits, &mut diagnostics)?,
            None => self.limits,
        };
        let media = match read::given(fields, "media")? {
            Some(media) => Rc::new(media.map(read::media).transpose()?.unwrap_or_default()),
            None => Rc::clone(&self.media),
        };
        refuse_unknown(&diagnostics)?;
        self.tree.configure(settings);
        (self.limits, self.media) = (limits, media);
        Response::of(&())
    }

    fn path(&mut self, request: Value<'_>, host: &CallContext) -> Result<Response> {
        let request = request.object("a tip and options, an object")?;
        let about = RequestKind::Node(request.need("tip")?.string()?);
        let resolved = self.options_without_report(request.get("options")?, about, host)?;
        Response::of(&self.tree.path(&resolved.options)?)
    }

    fn measure_path(&mut self, request: Value<'_>, host: &CallContext) -> Result<Response> {
        let resolved = self.options_without_report(Some(request), RequestKind::Assembly, host)?;
        let counter = resolved.counter(self.tree.memory());
        Response::of(&self.tree.measure_path(&resolved.options, &counter)?)
    }

    fn would_cut(&mut self, request: Value<'_>, host: &CallContext) -> Result<Response> {
        let resolved = self.options_without_report(Some(request), RequestKind::Assembly, host)?;
        let counter = resolved.counter(self.tree.memory());
        Response::of(&self.tree.would_cut(&resolved.options, &counter)?)
    }

    fn summarize_dialogue(&mut self, request: Value<'_>, host: &CallContext) -> Result<Response> {
        self.assemble(request, host, |tree, options, counter, found| {
            let mut result = tree.summarize_dialogue(options, counter)?;
            error::put_before(found, &mut result.report.diagnostics);
            Response::of(&result)
        })
    }

    fn assemble_dialogue(&mut self, request: Value<'_>, host: &CallContext) -> Result<Response> {
        self.assemble(request, host, |tree, options, counter, found| {
            let mut result = tree.assemble_dialogue(options, counter)?;
            error::put_before(found, &mut result.report.diagnostics);
            Response::of(&result)
        })
    }

    fn assemble_buffer(&mut self, request: Value<'_>, host: &CallContext) -> Result<Response> {
        self.assemble(request, host, |tree, options, counter, found| {
            let mut result = tree.assemble_buffer(options, counter)?;
            error::put_before(found, &mut result.report.diagnostics);
            Response::of(&result)
        })
    }

    fn request_body(&mut self, request: Value<'_>, host: &CallContext) -> Result<Response> {
        self.show_body(request, host, false, |bytes, _, _| Response {
            json: Vec::new(),
            bytes: vec![bytes.to_vec()],
            small: None,
        })
    }

    fn request_body_with_report(&mut self, request: Value<'_>, host: &CallContext) -> Result<Response> {
        self.show_body(request, host, true, |bytes, report, state| {
            answer_with_report(bytes.to_vec(), &report, state.as_ref())
        })?
    }

    /// Lends the body for the options' target, and its report, to a function. Without a report, unknown options are an
    /// error.
    fn show_body<R>(
        &mut self,
        request: Value<'_>,
        host: &CallContext,
        with_report: bool,
        show: impl FnOnce(&[u8], ReportSummary, Option<FitState>) -> R,
    ) -> Result<R> {
        let resolved = self.read_options(Some(request), read::resident_options(), RequestKind::Assembly, host)?;
        if !with_report {
            refuse_unknown(&resolved.diagnostics)?;
        }
        let target = match &resolved.target {
            Some(target) => target,
            None => return Err(read::lacks(request.object("options, an object")?, "target")),
        };
        let counter = resolved.counter(self.tree.memory());
        self.tree.show_body(&resolved.options, target, &counter, |bytes, mut report, state| {
            error::put_before(resolved.diagnostics.clone(), &mut report.diagnostics);
            show(bytes, report, state)
        })
    }

    /// A dialogue for a caller that keeps the messages of the one with the number `have`: packed, with the complete
    /// report or one in numbers.
    ///
    /// # Errors
    /// As [`LoomTree::assemble_dialogue`].
    pub fn pack_dialogue(
        &mut self,
        request: &[u8],
        bytes: &[Vec<u8>],
        host: &CallContext,
        have: u32,
        with_rows: bool,
    ) -> Result<Response> {
        let document = Document::read(request, bytes)?;
        let document: &Document<'_> = &document;
        self.assemble(document.root(), host, |tree, options, counter, found| {
            if with_rows {
                let mut delta = tree.assembly_delta(options, counter, have)?;
                error::put_before(found, &mut delta.report.diagnostics);
                return packed::assembly_delta(&delta);
            }
            let mut delta = tree.dialogue_delta(options, counter, have)?;
            error::put_before(found, &mut delta.report.diagnostics);
            packed::dialogue_delta(&delta)
        })
    }

    /// Lends the body for the options' target to a function, with its packed report if requested. The body is not
    /// copied.
    ///
    /// # Errors
    /// As [`LoomTree::request_body`].
    pub fn pack_body<R>(
        &mut self,
        request: &[u8],
        bytes: &[Vec<u8>],
        host: &CallContext,
        with_report: bool,
        show: impl FnOnce(&[u8], Option<Response>) -> R,
    ) -> Result<R> {
        let document = Document::read(request, bytes)?;
        let document: &Document<'_> = &document;
        self.show_body(document.root(), host, with_report, |bytes, report, state| {
            let report = with_report.then(|| packed::report_summary(&report, state.as_ref())).transpose()?;
            Ok(show(bytes, report))
        })?
    }

    /// Reads options and calls a function with their diagnostics.
    fn assemble<R>(
        &mut self,
        request: Value<'_>,
        host: &CallContext,
        assemble: impl FnOnce(&mut LoomTree, &Options, &CachingCounter<'_>, Vec<Diagnostic>) -> Result<R>,
    ) -> Result<R> {
        let resolved = self.read_options(Some(request), read::resident_options(), RequestKind::Assembly, host)?;
        let counter = resolved.counter(self.tree.memory());
        assemble(&mut self.tree, &resolved.options, &counter, resolved.diagnostics.clone())
    }

    /// Reads options for a method without diagnostics.
    pub(super) fn options_without_report(
        &mut self,
        request: Option<Value<'_>>,
        about: RequestKind,
        host: &CallContext,
    ) -> Result<ResolvedOptions> {
        let resolved = self.read_options(request, read::resident_options(), about, host)?;
        refuse_unknown(&resolved.diagnostics)?;
        Ok(resolved)
    }

    fn read_options(
        &mut self,
        request: Option<Value<'_>>,
        known: &[&str],
        about: RequestKind,
        host: &CallContext,
    ) -> Result<ResolvedOptions> {
        let none = Document::read(b"{}", &[])?;
        let none: &Document<'_> = &none;
        let request = request.filter(|request| !request.is_null()).unwrap_or_else(|| none.root());
        let mut diagnostics = request.repaired();
        let fields = request.object("options, an object")?;
        let (options, target) = self.read_fields(fields, known, about, &mut diagnostics)?;
        let counter = host.counter(fields.get("tokenizer")?)?;
        let id = self.counter_id(&counter, host);
        Ok(ResolvedOptions { options, target, counter, id, diagnostics })
    }

    /// Reads options without the counter.
    fn read_fields(
        &self,
        fields: Object<'_>,
        known: &[&str],
        about: RequestKind,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<(Options, Option<Target>)> {
        fields.report_unknown(known, diagnostics);
        let limits = match fields.get("limits")? {
            None => self.limits,
            limits => Limits::read(limits, diagnostics)?,
        };
        let (mut options, target) = read::options(fields, about, limits, diagnostics)?;
        if fields.get("media")?.is_none() {
            options.media = Rc::clone(&self.media);
        }
        Ok((options, target))
    }

    /// The key of a counter's cached counts: its name, or for a custom counter an id that is valid until another one is
    /// used.
    fn counter_id(&mut self, counter: &Rc<dyn Counter>, host: &CallContext) -> CounterId {
        let is_same = |other: &Rc<dyn Counter>| std::ptr::addr_eq(Rc::as_ptr(other), Rc::as_ptr(counter));
        if !host.counter.as_ref().is_some_and(is_same) {
            return self.tree.memory().counter(counter.name());
        }
        match &self.counter {
            Some((last, id)) if is_same(last) => *id,
            _ => {
                let id = self.tree.memory().own_counter();
                self.counter = Some((Rc::clone(counter), id));
                id
            }
        }
    }
}
