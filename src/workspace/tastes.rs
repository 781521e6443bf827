//! Tastes: the default file, the genre files, and lines that several of them share (docs/workspace.md).

use serde::{Serialize, Serializer};

use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::input::Content;
use crate::maps::SortedMap;
use crate::markdown;
use crate::text::trim;

use super::plan::{FileRole, Names};

/// The tastes of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tastes {
    /// The text of the file that always loads.
    pub default: String,
    /// The genre files, in declared order.
    pub genres: Genres,
    /// Lines that occur in two or more genre files.
    pub conflicts: Vec<Conflict>,
}

/// Names and texts, in order; an object in JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Genres(pub Vec<(String, String)>);

impl Serialize for Genres {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, text)| (name, text)))
    }
}

/// A line that occurs in several genre files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The line, trimmed.
    pub point: String,
    /// The genres that contain it, in declared order.
    pub files: Vec<String>,
}

/// The genre files that `declared` names, in that order; all passed files if there is no brief.
pub(super) fn read_tastes(
    default: Option<&Content>,
    given: &[(String, Option<Content>)],
    declared: Option<&[String]>,
    names: &Names,
    diagnostics: &mut Vec<Diagnostic>,
) -> Tastes {
    let path = names.file(FileRole::Default);
    let default = default.and_then(|content| content.text(&path, diagnostics)).unwrap_or_default().to_owned();
    let mut genres = Vec::new();
    let all: Vec<String> = given.iter().map(|(name, _)| name.clone()).collect();
    for name in declared.unwrap_or(&all) {
        let path = names.genre(name);
        match given.iter().find(|(other, _)| other == name).and_then(|(_, content)| content.as_ref()) {
            Some(content) => {
                genres.push((name.clone(), content.text(&path, diagnostics).unwrap_or_default().to_owned()));
            }
            None => {
                let message = format!("the brief names the taste `{name}`, but `{path}` is missing");
                let diagnostic = Diagnostic::new(DiagnosticCode::TasteMissing, Severity::Warning, message);
                diagnostics.push(diagnostic.at_path(path));
            }
        }
    }
    for (name, _) in given.iter().filter(|(name, _)| declared.is_some_and(|declared| !declared.contains(name))) {
        let message = format!("the taste `{name}` was left out, since the brief does not name it");
        let diagnostic = Diagnostic::new(DiagnosticCode::TasteNotDeclared, Severity::Info, message);
        diagnostics.push(diagnostic.at_path(names.genre(name)));
    }
    Tastes { default, conflicts: conflicts(&genres), genres: Genres(genres) }
}

fn conflicts(genres: &[(String, String)]) -> Vec<Conflict> {
    let mut places: SortedMap<&str, usize> = SortedMap::new();
    let mut points: Vec<(&str, Vec<usize>)> = Vec::new();
    for (genre, (_, text)) in genres.iter().enumerate() {
        for line in markdown::lines(markdown::without_bom(text)) {
            let point = trim(line.text);
            if point.starts_with('#') || !point.contains(char::is_alphanumeric) {
                continue;
            }
            let place = *places.or_insert(point, points.len());
            match points.get_mut(place) {
                Some((_, files)) if files.last() == Some(&genre) => {}
                Some((_, files)) => files.push(genre),
                None => points.push((point, vec![genre])),
            }
        }
    }
    let name = |genre: &usize| genres.get(*genre).map(|(name, _)| name.clone());
    points
        .iter()
        .filter(|(_, files)| files.len() > 1)
        .map(|(point, files)| Conflict { point: (*point).to_owned(), files: files.iter().filter_map(name).collect() })
        .collect()
}
