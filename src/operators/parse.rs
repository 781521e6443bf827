//! Parses XML into a task and its diagnostics (docs/operators.md).
//!
//! Recursion is as deep as the nesting of tasks, which `xmlDepth` limits.

use serde::Serialize;

use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::maps::SortedSet;
use crate::text::trim;

use super::kind::{Kind, OperatorRole};
use super::settings::{ContextManagement, Origin};
use super::task::{Element, Operator, Span, Task};
use super::validate::{Block, FIELDS, ParseOptions};
use super::xml::{Item, Tag, TextPosition, Xml, decode, is_white, shown};

/// A task and the diagnostics of its template. An invalid value counts as the narrowest one of its setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParsedTask {
    /// The task.
    pub task: Task,
    /// The diagnostics, in the order of the template.
    pub diagnostics: Vec<Diagnostic>,
}

/// The places where [`super::write`] can add settings to a task, in byte offsets.
#[derive(Clone, Debug)]
pub(super) struct Site<'a> {
    pub(super) settings: ContextManagement,
    /// The byte after the name in the start tag, if it lacks `type` and so is atomic.
    pub(super) untyped: Option<usize>,
    pub(super) tag: TagSpan<'a>,
    /// The byte after the first `</description>`.
    pub(super) description_end: Option<usize>,
    /// The first block.
    pub(super) block: Option<BlockSite<'a>>,
}

#[derive(Clone, Debug)]
pub(super) struct TagSpan<'a> {
    pub(super) name: &'a str,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) empty: bool,
}

#[derive(Clone, Debug)]
pub(super) struct BlockSite<'a> {
    pub(super) tag: TagSpan<'a>,
    /// The byte after its last element or comment, or after its start tag.
    pub(super) last_end: usize,
    /// Which of the settings are present, in the order of [`FIELDS`].
    pub(super) present: [bool; 4],
}

/// Parses a template. A leading BOM is ignored.
///
/// # Errors
/// [`crate::Code::InvalidXml`] and [`crate::Code::LimitExceeded`], both with `line` and `column` in the details.
pub fn parse_task(xml: &str, options: &ParseOptions) -> Result<ParsedTask> {
    let (mut task, diagnostics, _) = read(xml, options)?;
    task.source = Some(xml.to_owned());
    Ok(ParsedTask { task, diagnostics })
}

/// Parses a template from bytes, which must be UTF-8.
///
/// # Errors
/// Those of [`parse_task`], and [`crate::Code::InvalidXml`] for another encoding.
pub fn parse_bytes(xml: &[u8], options: &ParseOptions) -> Result<ParsedTask> {
    parse_task(&decode(xml, &options.limits)?, options)
}

/// Parses a template: the task, its diagnostics, and the places for defaults.
pub(super) fn read<'a>(xml: &'a str, options: &ParseOptions) -> Result<(Task, Vec<Diagnostic>, Vec<Site<'a>>)> {
    let mut parser =
        Parser { xml: Xml::new(xml, options.limits)?, options, diagnostics: Vec::new(), sites: Vec::new() };
    loop {
        if let Item::Open(tag) = parser.xml.next()? {
            if tag.name != "task" {
                let message = format!("the root element is `<{}>`; a template is one `<task>`", shown(tag.name));
                return Err(parser.xml.wrong(tag.start, "root", message));
            }
            let task = parser.task(tag, OperatorRole::Task)?;
            // The text after the root is checked too.
            while !matches!(parser.xml.next()?, Item::End) {}
            return Ok((task, parser.diagnostics, parser.sites));
        }
    }
}

/// The elements of a task that were read.
#[derive(Debug, Default)]
struct Seen {
    block: bool,
    steps: bool,
}

struct Parser<'a, 'o> {
    xml: Xml<'a>,
    options: &'o ParseOptions,
    diagnostics: Vec<Diagnostic>,
    sites: Vec<Site<'a>>,
}

impl<'a> Parser<'a, '_> {
    fn report(&mut self, place: TextPosition, code: DiagnosticCode, severity: Severity, message: String) {
        self.add(place.diagnostic(code, severity, message));
    }

    /// Inserts a diagnostic so that all are ordered by place.
    fn add(&mut self, diagnostic: Diagnostic) {
        let place = |it: &Diagnostic| (it.line, it.column);
        let before = self.diagnostics.iter().rposition(|it| place(it) <= place(&diagnostic));
        self.diagnostics.insert(before.map_or(0, |at| at.saturating_add(1)), diagnostic);
    }

    /// Reads a task whose start tag was the last item.
    fn task(&mut self, tag: Tag<'a>, role: OperatorRole) -> Result<Task> {
        let site = self.sites.len();
        let mut task = self.begin(&tag, role);
        self.setting_attributes(&tag);
        let mut seen = Seen::default();
        let mut text_at = None;
        let end = loop {
            match self.xml.next()? {
                Item::Open(child) => self.child(child, &mut task, &mut seen, site)?,
                Item::Text { text, place } if text.contains(|ch| !is_white(ch)) => _ = text_at.get_or_insert(place),
                Item::Text { .. } => {}
                Item::Close { end } => break end,
                Item::End => break tag.end,
            }
        };
        if let Some(place) = text_at {
            let name = shown(tag.name);
            let message = format!("text in `<{name}>` is ignored; describe the task in `<description>`");
            self.report(place, DiagnosticCode::TextIgnored, Severity::Warning, message);
        }
        self.missing_parts(&task, tag.place);
        task.span.end = self.xml.place(end).units;
        Ok(task)
    }

    /// Creates a task from its start tag.
    fn begin(&mut self, tag: &Tag<'a>, role: OperatorRole) -> Task {
        let type_attribute = tag.attributes.iter().find(|attribute| attribute.name == "type");
        let kind = type_attribute.map_or(Kind::Atomic, |attribute| Kind::named(attribute.value.trim_matches(is_white)));
        match type_attribute {
            Some(attribute) if !kind.is_known() => {
                let name = shown(kind.as_str());
                let message = format!(
                    "unknown task type `{name}`, which has no defaults; use `atomic`, `sequential` or `reduce`"
                );
                self.report(attribute.place, DiagnosticCode::UnknownType, Severity::Warning, message);
            }
            // An inner or reduction task without a type is atomic.
            None if matches!(role, OperatorRole::Task | OperatorRole::Step) => {
                let message = "this task has no `type`; it counts as `atomic`".to_owned();
                self.report(tag.place, DiagnosticCode::TypeMissing, Severity::Info, message);
            }
            _ => {}
        }
        let mut operator = Operator::new(kind, role);
        operator.origins.kind = Some(if type_attribute.is_some() { Origin::Explicit } else { Origin::Default });
        let id = tag.attributes.iter().find(|attribute| attribute.name == "id");
        operator.id = id.map(|attribute| attribute.value.clone().into_owned());
        let name_end = tag.start.saturating_add(1).saturating_add(tag.name.len());
        self.sites.push(Site {
            settings: operator.context_management,
            untyped: (type_attribute.is_none() && matches!(role, OperatorRole::Task | OperatorRole::Step))
                .then_some(name_end),
            tag: TagSpan::of(tag),
            description_end: None,
            block: None,
        });
        let steps = (operator.kind == Kind::Sequential).then(Vec::new);
        Task {
            operator,
            steps,
            inner_task: None,
            reduction_task: None,
            task: None,
            elements: Vec::new(),
            line: tag.place.line,
            column: tag.place.column,
            span: Span { start: tag.place.units, end: 0 },
            source: None,
        }
    }

    fn child(&mut self, child: Tag<'a>, task: &mut Task, seen: &mut Seen, site: usize) -> Result<()> {
        let kind = &task.operator.kind;
        let open = !kind.is_known();
        match child.name {
            "description" => {
                if self.is_first(task.operator.description.is_none(), &child)? {
                    let (text, end) = self.text()?;
                    task.operator.description = Some(trim(&text).to_owned());
                    if let Some(site) = self.sites.get_mut(site) {
                        site.description_end = Some(end);
                    }
                }
            }
            "context_management" => {
                if self.is_first(!std::mem::replace(&mut seen.block, true), &child)? {
                    self.block(&child, &mut task.operator, site)?;
                }
            }
            "steps" if open || *kind == Kind::Sequential => {
                if self.is_first(!std::mem::replace(&mut seen.steps, true), &child)? {
                    self.steps(&child, task.steps.get_or_insert_default())?;
                }
            }
            "inner_task" if open || *kind == Kind::Reduce => {
                self.part(child, OperatorRole::InnerTask, &mut task.inner_task)?
            }
            "reduction_task" if open || *kind == Kind::Reduce => {
                self.part(child, OperatorRole::ReductionTask, &mut task.reduction_task)?;
            }
            "task" if matches!(task.operator.role, OperatorRole::InnerTask | OperatorRole::ReductionTask) => {
                self.part(child, OperatorRole::Task, &mut task.task)?;
            }
            _ => self.unknown(child, task)?,
        }
        Ok(())
    }

    /// Reads a task that is allowed once.
    fn part(&mut self, child: Tag<'a>, role: OperatorRole, into: &mut Option<Box<Task>>) -> Result<()> {
        if self.is_first(into.is_none(), &child)? {
            *into = Some(Box::new(self.task(child, role)?));
        }
        Ok(())
    }

    /// Returns `first`; an element that is not the first is reported and skipped.
    fn is_first(&mut self, first: bool, child: &Tag<'a>) -> Result<bool> {
        if !first {
            self.report_second(child);
            self.xml.skip()?;
        }
        Ok(first)
    }

    fn report_second(&mut self, tag: &Tag<'a>) {
        let message = format!("`<{0}>` occurs twice, and the first is used; remove one", shown(tag.name));
        self.report(tag.place, DiagnosticCode::DuplicateElement, Severity::Error, message);
    }

    /// Reads the content of `<steps>`.
    fn steps(&mut self, parent: &Tag<'a>, steps: &mut Vec<Task>) -> Result<()> {
        let mut ids = SortedSet::new();
        let mut text_at = None;
        loop {
            match self.xml.next()? {
                Item::Open(tag) if tag.name == "task" => {
                    let place = tag.place;
                    let step = self.task(tag, OperatorRole::Step)?;
                    let id = step.operator.step_id(steps.len());
                    if !ids.insert(id.clone()) {
                        let message = format!("two steps have the id `{}`; rename one", shown(&id));
                        self.report(place, DiagnosticCode::DuplicateStepId, Severity::Warning, message);
                    }
                    steps.push(step);
                }
                Item::Open(tag) => {
                    let message = format!("`<{}>` in `<steps>` is not a `<task>`; it is ignored", shown(tag.name));
                    self.report(tag.place, DiagnosticCode::MisplacedElement, Severity::Warning, message);
                    self.xml.skip()?;
                }
                Item::Text { text, place } if text.contains(|ch| !is_white(ch)) => _ = text_at.get_or_insert(place),
                Item::Text { .. } => {}
                Item::Close { .. } | Item::End => break,
            }
        }
        if let Some(place) = text_at {
            let message = format!("text in `<{}>` is ignored; write a `<task>`", parent.name);
            self.report(place, DiagnosticCode::TextIgnored, Severity::Warning, message);
        }
        Ok(())
    }

    /// Keeps an element that has no meaning here.
    fn unknown(&mut self, child: Tag<'a>, task: &mut Task) -> Result<()> {
        const MEANINGFUL: [&str; 4] = ["steps", "inner_task", "reduction_task", "task"];
        let setting = FIELDS.contains(&child.name);
        if setting || MEANINGFUL.contains(&child.name) {
            let belongs = match child.name {
                "steps" => "in a task of type `sequential`",
                "inner_task" | "reduction_task" => "in a task of type `reduce`",
                "task" => "in `<steps>`",
                _ => "in `<context_management>`",
            };
            let message = format!("`<{}>` has no effect here; it belongs {belongs}", child.name);
            self.report(child.place, DiagnosticCode::MisplacedElement, Severity::Warning, message);
        }
        let end = self.xml.skip()?;
        task.elements.push(Element {
            name: child.name.to_owned(),
            xml: self.xml.slice(child.start, end).to_owned(),
            line: child.place.line,
            column: child.place.column,
        });
        Ok(())
    }

    /// Reads a `<context_management>`.
    fn block(&mut self, tag: &Tag<'a>, operator: &mut Operator, site: usize) -> Result<()> {
        let mut block = Block { place: Some(tag.place), ..Block::default() };
        self.setting_attributes(tag);
        let mut text_at = None;
        let mut last_end = tag.end;
        loop {
            match self.xml.next()? {
                Item::Open(child) => match FIELDS.iter().position(|field| *field == child.name) {
                    Some(field) => last_end = self.setting(&child, field, &mut block)?,
                    None => {
                        let message = format!(
                            "unknown setting `<{}>`; known: {}",
                            shown(child.name),
                            FIELDS.map(|field| format!("`{field}`")).join(", ")
                        );
                        self.report(child.place, DiagnosticCode::UnknownSetting, Severity::Warning, message);
                        last_end = self.xml.skip()?;
                    }
                },
                Item::Text { text, place } if text.contains(|ch| !is_white(ch)) => _ = text_at.get_or_insert(place),
                Item::Text { .. } => {}
                Item::Close { .. } | Item::End => break,
            }
        }
        if let Some(place) = text_at {
            let message = "text in `<context_management>` is ignored; write it into a setting".to_owned();
            self.report(place, DiagnosticCode::TextIgnored, Severity::Warning, message);
        }
        let mut found = Vec::new();
        let (settings, mut origins) = block.finish(&operator.kind, operator.role, self.options, &mut found);
        found.into_iter().for_each(|diagnostic| self.add(diagnostic));
        origins.kind = operator.origins.kind;
        operator.context_management = settings;
        operator.origins = origins;
        let present = block.places.map(|place| place.is_some());
        if let Some(site) = self.sites.get_mut(site) {
            site.settings = settings;
            site.block = Some(BlockSite { tag: TagSpan::of(tag), last_end, present });
        }
        Ok(())
    }

    /// Reads one setting; returns the byte after it.
    fn setting(&mut self, tag: &Tag<'a>, field: usize, block: &mut Block) -> Result<usize> {
        let mut value = String::new();
        let mut at = None;
        let mut nested = None;
        let end = loop {
            match self.xml.next()? {
                Item::Open(child) => {
                    nested.get_or_insert(child.place);
                    self.xml.skip()?;
                }
                Item::Text { text, place } => {
                    at.get_or_insert(place);
                    value.push_str(&text);
                }
                Item::Close { end } => break end,
                Item::End => break tag.end,
            }
        };
        let Some(slot) = block.places.get_mut(field) else { return Ok(end) };
        if slot.is_some() {
            self.report_second(tag);
            return Ok(end);
        }
        *slot = Some(tag.place);
        match nested {
            Some(place) => {
                let message = format!("the value of `{}` is an element; write text", tag.name);
                let invalid = block.invalid(field, place, &message);
                self.add(invalid);
            }
            None => {
                if let Err(diagnostic) = block.set(field, &value, at.unwrap_or(tag.place)) {
                    self.add(diagnostic);
                }
            }
        }
        Ok(end)
    }

    /// Reads to the end of an element: its text, and the byte after it.
    fn text(&mut self) -> Result<(String, usize)> {
        let mut all = String::new();
        let mut depth = 0usize;
        loop {
            match self.xml.next()? {
                Item::Open(_) => depth = depth.saturating_add(1),
                Item::Text { text, .. } => all.push_str(&text),
                Item::Close { end } if depth == 0 => return Ok((all, end)),
                Item::Close { .. } => depth = depth.saturating_sub(1),
                Item::End => return Ok((all, 0)),
            }
        }
    }

    /// Reports attributes that look like settings.
    fn setting_attributes(&mut self, tag: &Tag<'a>) {
        for attribute in tag.attributes.iter().filter(|attribute| FIELDS.contains(&attribute.name)) {
            let message =
                format!("the attribute `{0}` has no effect; write `<{0}>` in `<context_management>`", attribute.name);
            self.report(attribute.place, DiagnosticCode::MisplacedElement, Severity::Warning, message);
        }
    }

    fn missing_parts(&mut self, task: &Task, place: TextPosition) {
        if task.operator.kind != Kind::Reduce {
            return;
        }
        for (name, part) in [("inner_task", &task.inner_task), ("reduction_task", &task.reduction_task)] {
            if part.is_none() {
                let message = format!("this reduce task has no `<{name}>`; one with default settings is used");
                self.report(place, DiagnosticCode::MissingElement, Severity::Info, message);
            }
        }
    }
}

impl<'a> TagSpan<'a> {
    fn of(tag: &Tag<'a>) -> Self {
        Self { name: tag.name, start: tag.start, end: tag.end, empty: tag.empty }
    }
}
