//! Front matter: YAML between `---` lines at a file's start, and the watches in it (docs/folders.md).

use serde_json::Value;

use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::limits::Limits;
use crate::markdown;
use crate::text::is_blank;
use crate::yaml::{self, Kind, Node};

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FrontMatter {
    /// The YAML as JSON.
    pub value: Option<Value>,
    /// The patterns of `watch`, each once, as written.
    pub watch: Vec<Declared>,
    /// Byte offset of the body.
    pub body_start: usize,
    /// Line of the body, from 1.
    pub body_line: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Declared {
    pub pattern: String,
    /// Line in the file, from 1.
    pub line: usize,
}

pub(super) fn read(text: &str, path: &str, limits: &Limits, diagnostics: &mut Vec<Diagnostic>) -> FrontMatter {
    let bom = text.len().saturating_sub(markdown::without_bom(text).len());
    let mut front = FrontMatter { body_start: bom, body_line: 1, ..FrontMatter::default() };
    let mut report = |message: String, line: usize, column: Option<usize>| {
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        let diagnostic = Diagnostic::new(DiagnosticCode::FrontMatterInvalid, Severity::Warning, message).at_path(path);
        diagnostics.push(Diagnostic { line: Some(number(line)), column: column.map(number), ..diagnostic });
    };
    let (yaml, body_start, body_line) = match markdown::front_matter(text) {
        markdown::FrontMatter::Closed { yaml, body_start, body_line } => (yaml, body_start, body_line),
        markdown::FrontMatter::Open => {
            let message = "the front matter is not closed by a line `---`, so all of the file is its body";
            report(message.to_owned(), 1, None);
            return front;
        }
        markdown::FrontMatter::Missing => return front,
    };
    front.body_start = body_start;
    front.body_line = body_line;
    if yaml.len() > limits.front_matter_bytes as usize {
        let message = format!(
            "the front matter has {} bytes, over the limit `frontMatterBytes` of {}; it was not read",
            yaml.len(),
            limits.front_matter_bytes
        );
        report(message, 1, None);
        return front;
    }
    let node = match yaml::read(yaml) {
        Ok(None) => return front,
        Ok(Some(node)) => node,
        Err(problem) => {
            let line = problem.line.max(1);
            let source = markdown::lines(yaml).nth(line.saturating_sub(1)).map_or("", |line| line.text);
            let hint = match source.trim_start().trim_start_matches("- ").trim_start_matches("watch:").trim_start() {
                value if value.starts_with(['*', '[', '{', '&', '!', '@', '`', '%', '"', '\'']) => {
                    "; put the patterns of `watch` in quotes"
                }
                _ => "",
            };
            let message = format!("the front matter is not YAML: {}{hint}", problem.message);
            report(message, line.saturating_add(1), Some(problem.column));
            return front;
        }
    };
    let entries = match &node.kind {
        Kind::Map(entries) => entries,
        Kind::Scalar(Value::Null) => return front,
        _ => {
            report("the front matter is not a list of `key: value`".to_owned(), node.line.saturating_add(1), None);
            return front;
        }
    };
    front.value = Some(node.to_json());
    if let Some((_, watch)) = entries.iter().find(|(key, _)| key.as_str() == Some("watch")) {
        front.watch = declared(watch, path, limits, diagnostics);
    }
    front
}

fn declared(watch: &Node, path: &str, limits: &Limits, diagnostics: &mut Vec<Diagnostic>) -> Vec<Declared> {
    let one = std::slice::from_ref(watch);
    let items = match &watch.kind {
        Kind::Scalar(Value::Null) => &[],
        Kind::List(items) => items.as_slice(),
        Kind::Scalar(_) | Kind::Tagged | Kind::Map(_) => one,
    };
    let mut patterns: Vec<Declared> = Vec::new();
    for item in items {
        let line = item.line.saturating_add(1);
        let problem = match item.as_str() {
            None => "a watch must be a string; put it in quotes",
            Some(text) if is_blank(text) => "a watch is empty; name a folder",
            Some(text) if patterns.iter().any(|known| known.pattern == text) => continue,
            Some(text) if patterns.len() < limits.watches_per_file as usize => {
                patterns.push(Declared { pattern: text.to_owned(), line });
                continue;
            }
            Some(_) => {
                let left = items.len().saturating_sub(patterns.len());
                let max = limits.watches_per_file;
                let message = format!("{left} watches over the limit `watchesPerFile` of {max} were left out");
                diagnostics.push(invalid(&message, path, line));
                break;
            }
        };
        diagnostics.push(invalid(problem, path, line));
    }
    patterns
}

pub(super) fn invalid(message: &str, path: &str, line: usize) -> Diagnostic {
    let diagnostic = Diagnostic::new(DiagnosticCode::WatchInvalid, Severity::Warning, message).at_path(path);
    Diagnostic { line: Some(u32::try_from(line).unwrap_or(u32::MAX)), ..diagnostic }
}
