//! The prompt section (docs/folders.md).

use crate::limits::Limits;
use crate::text::case::uppercase;

use super::chain::{ChainFile, Level, PROMPT_HEADINGS};
use super::file::without_blank_edges;
use super::vault::VaultFile;
use super::{front_matter, paths};

const SENTENCE: &str = "The following context has been loaded for your reference:";

/// Renders the prompt section of a chain's files, followed by the working directory's file unless it is in the chain.
pub fn render_prompt(files: &[ChainFile], working_directory: Option<&VaultFile>) -> String {
    let mut out = String::new();
    let is_own = |file: &&ChainFile| file.level == Level::WorkingDirectory;
    let shown = files.iter().filter(|file| !file.content.is_empty() && !is_own(file));
    for (at, file) in shown.enumerate() {
        if at == 0 {
            let [heading, _] = PROMPT_HEADINGS;
            out.push_str(&format!("{heading}\n\n{SENTENCE}\n"));
        }
        out.push_str(&format!("\n### {} ({})\n{}\n", display_name(file), one_line(&file.path), file.content));
    }
    let own = files.iter().find(is_own).map(|file| file.content.clone());
    if let Some(text) = own.or_else(|| working_directory_text(working_directory?, files)) {
        let [_, heading] = PROMPT_HEADINGS;
        if !out.is_empty() {
            out.push_str("\n---\n\n");
        }
        out.push_str(&format!("{heading}\n\n{text}\n"));
    }
    out
}

/// The working directory's text, unless it is blank or in the chain.
fn working_directory_text(own: &VaultFile, files: &[ChainFile]) -> Option<String> {
    let limits = Limits::default();
    let path = paths::normalize(&own.path, &limits).ok();
    if files.iter().any(|file| Some(&file.path) == path.as_ref()) {
        return None;
    }
    let text = own.content.text(&own.path, &mut Vec::new())?;
    let body = front_matter::read(text, &own.path, &limits, &mut Vec::new()).body_start;
    let text = without_blank_edges(text.get(body..)?);
    let same = files.iter().any(|file| file.content == text);
    (!text.is_empty() && !same).then(|| text.to_owned())
}

/// The heading of a file: `Root Context`, `Projects Overview`, `Parachute Project`.
fn display_name(file: &ChainFile) -> String {
    if paths::context_file(&file.path).is_none() {
        // A legacy file: `parachute-context.md`.
        let (_, name) = paths::split(&file.path);
        let stem = name.strip_suffix(".md").unwrap_or(name);
        return format!("{} Context", title_case(&one_line(stem.strip_suffix("-context").unwrap_or(stem))));
    }
    let (parent, name) = paths::split(&file.folder);
    let name = title_case(&one_line(name));
    match file.level {
        Level::Root => "Root Context".to_owned(),
        Level::Parent => format!("{name} Overview"),
        Level::Direct | Level::WorkingDirectory => {
            let (_, parent) = paths::split(parent);
            let kind = singular(&title_case(&one_line(parent)));
            format!("{name} {}", if kind.is_empty() { "Context" } else { &kind })
        }
    }
}

fn one_line(text: &str) -> String {
    text.chars().map(|ch| if ch.is_control() || matches!(ch, '\u{2028}' | '\u{2029}') { ' ' } else { ch }).collect()
}

/// A folder's name as a title: words without a capital are capitalized.
fn title_case(name: &str) -> String {
    let words = name.split([' ', '-', '_']).filter(|word| !word.is_empty());
    let titled = words.map(|word| {
        let first = word.chars().next().filter(|_| !word.contains(char::is_uppercase)).map_or(0, char::len_utf8);
        let (first, rest) = word.split_at_checked(first).unwrap_or_default();
        uppercase(first) + rest
    });
    let title = titled.collect::<Vec<String>>().join(" ");
    if title.is_empty() { name.to_owned() } else { title }
}

/// The singular of an English plural, by its ending.
fn singular(plural: &str) -> String {
    const SAME: [&str; 4] = ["Series", "News", "Species", "Analysis"];
    const OTHERS: [(&str, &str); 4] =
        [("People", "Person"), ("Children", "Child"), ("Movies", "Movie"), ("Analyses", "Analysis")];
    if let Some((_, one)) = OTHERS.iter().find(|(many, _)| *many == plural) {
        return (*one).to_owned();
    }
    if SAME.contains(&plural) || plural.len() < 4 {
        return plural.to_owned();
    }
    if let Some(stem) = plural.strip_suffix("ies") {
        return format!("{stem}y");
    }
    for ending in ["sses", "shes", "ches", "xes"] {
        if plural.ends_with(ending) {
            return plural.strip_suffix("es").unwrap_or(plural).to_owned();
        }
    }
    match plural.strip_suffix('s') {
        Some(stem) if !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => plural.to_owned(),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/folders/render.rs"]
mod tests;
