//! Lists the messages of all errors and diagnostics in the goldens as one table, to review their wording.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::Args;
use crate::project::Project;
use crate::stamp;

const FOLDER: &str = "tests/golden";

/// Messages have at most this many characters.
const MAX_MESSAGE_CHARS: usize = 160;

/// A code and a message, sorted by code.
type Messages = BTreeSet<(String, String)>;

/// Prints the tables of errors and diagnostics.
pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    args.end()?;
    let (mut errors, mut diagnostics) = (Messages::new(), Messages::new());
    for path in stamp::files(&project.path(FOLDER))? {
        if !path.to_string_lossy().ends_with(".expected.json") {
            continue;
        }
        let text = fs::read(&path)?;
        let golden = serde_json::from_slice(&text).with_context(|| format!("`{}` is not JSON", path.display()))?;
        collect(&golden, &mut errors, &mut diagnostics);
    }
    print_table("error", &errors);
    print_table("diagnostic", &diagnostics);
    Ok(())
}

/// Collects `{ "error": { code, message } }` and the items of `diagnostics`, at any depth.
fn collect(value: &Value, errors: &mut Messages, diagnostics: &mut Messages) {
    match value {
        Value::Object(fields) => {
            errors.extend(fields.get("error").and_then(message));
            diagnostics
                .extend(fields.get("diagnostics").and_then(Value::as_array).into_iter().flatten().filter_map(message));
            fields.values().for_each(|field| collect(field, errors, diagnostics));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, errors, diagnostics)),
        _ => {}
    }
}

fn message(value: &Value) -> Option<(String, String)> {
    let field = |name| value.get(name).and_then(Value::as_str).map(str::to_owned);
    Some((field("code")?, field("message")?))
}

fn print_table(title: &str, messages: &Messages) {
    let width = messages.iter().map(|(code, _)| code.len()).max().unwrap_or(0).max(title.len());
    println!("{title:width$}  chars  message");
    for (code, message) in messages {
        let chars = message.chars().count();
        let mark = if chars > MAX_MESSAGE_CHARS { '!' } else { ' ' };
        println!("{code:width$}  {chars:4}{mark}  {}", message.replace('\n', "\\n"));
    }
    println!("{} messages\n", messages.len());
}
