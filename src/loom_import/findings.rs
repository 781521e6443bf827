//! The findings of an import: frequent ones are reported once, with their count.

use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::vendors::blocks::Unknown;
use crate::vendors::left_out::LeftOut;

/// Kinds counted separately; further ones count as others. Further findings about single nodes are only counted.
const MAX_FINDING_KINDS: usize = 100;

/// The findings of one import.
#[derive(Debug, Default)]
pub(super) struct Findings {
    counted: Vec<Counted>,
    single: Vec<Diagnostic>,
    more: usize,
    /// The number of contents that no block can hold.
    unsupported: usize,
}

#[derive(Debug)]
struct Counted {
    code: DiagnosticCode,
    severity: Severity,
    what: String,
    count: usize,
    /// The first node concerned.
    node: Option<String>,
    /// Whether the data stay under `imported`.
    stays: bool,
}

impl Findings {
    /// Counts one occurrence.
    pub(super) fn count(&mut self, code: DiagnosticCode, severity: Severity, what: &str, node: Option<&str>) {
        self.count_one(code, severity, what, node, false);
    }

    fn count_one(&mut self, code: DiagnosticCode, severity: Severity, what: &str, node: Option<&str>, stays: bool) {
        let found = self.counted.iter_mut().find(|known| known.code == code && known.what == what);
        if let Some(known) = found {
            known.count = known.count.saturating_add(1);
        } else if self.counted.len() >= MAX_FINDING_KINDS {
            self.more = self.more.saturating_add(1);
        } else {
            let node = node.filter(|node| !node.is_empty()).map(str::to_owned);
            self.counted.push(Counted { code, severity, what: what.to_owned(), count: 1, node, stays });
        }
    }

    /// Counts a field of the file for which a Loom tree has none, and which stays under `imported`.
    pub(super) fn not_expressed(&mut self, field: &str, node: Option<&str>) {
        self.count_one(DiagnosticCode::ImportNotExpressed, Severity::Info, field, node, true);
    }

    /// Counts content that no block of a node can hold, and which stays under `imported`.
    pub(super) fn unsupported(&mut self, what: &str, node: Option<&str>) {
        self.unsupported = self.unsupported.saturating_add(1);
        self.count_one(DiagnosticCode::ImportUnsupportedContent, Severity::Warning, what, node, true);
    }

    /// The number of such contents so far.
    pub(super) fn unsupported_so_far(&self) -> usize {
        self.unsupported
    }

    /// Counts skipped data; `what` describes them.
    pub(super) fn skipped(&mut self, what: &str) {
        self.count(DiagnosticCode::ImportUnsupportedContent, Severity::Warning, what, None);
    }

    /// Adds a finding about one place.
    pub(super) fn add(&mut self, finding: Diagnostic) {
        if self.single.len() < MAX_FINDING_KINDS {
            self.single.push(finding);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    /// Adds a warning about a node.
    pub(super) fn warn(&mut self, code: DiagnosticCode, message: impl Into<String>, node: &str) {
        self.add(Diagnostic::new(code, Severity::Warning, message).about_node(node));
    }

    /// The findings about single places, then the counted ones.
    pub(super) fn finish(self) -> Vec<Diagnostic> {
        let mut all = self.single;
        for Counted { code, severity, what, count, node, stays } in self.counted {
            let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
            let message = match code {
                DiagnosticCode::ImportNotExpressed if stays => {
                    format!("`{what}`, {times}: a Loom tree has no field for it; it stays under `imported`")
                }
                DiagnosticCode::ImportUnsupportedContent if stays => {
                    format!("{what}, {times}: a node cannot hold it; it stays under `imported`")
                }
                _ => format!("{what}, {times}"),
            };
            all.push(Diagnostic { node_id: node, ..Diagnostic::new(code, severity, message) });
        }
        if self.more > 0 {
            let message = format!("{} more findings are not listed", self.more);
            all.push(Diagnostic::new(DiagnosticCode::ImportNotExpressed, Severity::Info, message));
        }
        all
    }
}

/// Blocks of unknown vendors.
impl Unknown for Findings {
    fn unknown(&mut self, kind: &str) {
        self.unsupported(&format!("`{}`", kind.chars().take(60).collect::<String>()), None);
    }

    fn left_out(&mut self, what: LeftOut<'_>) {
        // The fields of blocks are not compared with the file.
        if !matches!(what, LeftOut::Field(_)) {
            self.unsupported(&what.name(), None);
        }
    }
}
