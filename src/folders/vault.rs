//! The context files of a vault, by folder.

use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::input::Content;
use crate::limits::{self, Limits};
use crate::maps::SortedMap;

use super::paths;

/// A file as the host passes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultFile {
    /// Its path in the vault.
    pub path: String,
    /// Its content.
    pub content: Content,
}

#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub path: String,
    pub content: &'a Content,
}

pub(super) type Vault<'a> = SortedMap<String, Entry<'a>>;

pub(super) fn vault<'a>(
    files: &'a [VaultFile],
    limits: &Limits,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vault<'a>> {
    limits::check("contextFiles", files.len(), limits.context_files)?;
    let bytes = files.iter().fold(0_usize, |sum, file| sum.saturating_add(file.content.len()));
    limits::check("inputBytes", bytes, limits.input_bytes)?;
    let mut vault = Vault::new();
    for file in files {
        let Some(path) = paths::normalize_or_report(&file.path, limits, diagnostics)? else { continue };
        let Some((folder, preferred)) = paths::context_file(&path) else {
            let message = format!("`{path}` was skipped: a context file is named `AGENTS.md` or `CLAUDE.md`");
            diagnostics
                .push(Diagnostic::new(DiagnosticCode::NotAContextFile, Severity::Info, message).at_path(path.as_str()));
            continue;
        };
        match vault.get_mut(folder) {
            Some(known) if known.path == path => {
                let message = format!("duplicate file `{path}`; the first is used");
                diagnostics.push(
                    Diagnostic::new(DiagnosticCode::DuplicateFile, Severity::Warning, message).at_path(path.as_str()),
                );
            }
            Some(known) if preferred => *known = Entry { path, content: &file.content },
            Some(_) => {}
            None => {
                vault.insert(folder.to_owned(), Entry { path, content: &file.content });
            }
        }
    }
    Ok(vault)
}
