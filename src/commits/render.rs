//! Rendering: a conversation as a structured narrative in Markdown, turn by turn (SPEC §5, tier `rendering`).

use crate::commits::formats::Format;
use crate::commits::transcript::{Role, Turn, result_text, type_placeholder};
use crate::content::{Block, arguments_text};
use crate::markdown::{Blocks, Part, heading};

/// The narrative of a conversation: for each turn a heading, then its texts. Thoughts are quoted; calls and results are in
/// fences that their content cannot close; what a text leaves open is closed.
pub(crate) fn narrative(turns: &[Turn], format: Format) -> String {
    let mut out = String::new();
    out.push_str("# Earlier conversation\n\n");
    out.push_str(&format!(
        "This is what a previous session (`{format}`) knew, turn by turn. It is context, not a conversation to answer.\n"
    ));
    for (at, turn) in turns.iter().enumerate() {
        out.push_str(&format!("\n## {}. {}", at.saturating_add(1), title(turn)));
        if let Some(timestamp) = &turn.timestamp {
            out.push_str(&format!(" ({})", one_line(timestamp)));
        }
        out.push('\n');
        for block in &turn.blocks {
            out.push('\n');
            write(block, &mut out);
        }
    }
    out
}

fn title(turn: &Turn) -> &'static str {
    let only_results =
        !turn.blocks.is_empty() && turn.blocks.iter().all(|block| matches!(block, Block::ToolResult { .. }));
    match turn.role {
        _ if turn.summary => "Summary of what came before",
        Role::System => "System",
        Role::User if only_results => "Tool results",
        Role::User => "User",
        Role::Assistant => "Assistant",
    }
}

fn write(block: &Block, out: &mut String) {
    match block {
        Block::Text(text) => {
            out.push_str(&contained(text.trim_end()));
            out.push('\n');
        }
        Block::Reasoning { redacted: true, .. } => out.push_str("> (sealed thoughts)\n"),
        Block::Reasoning { text, .. } => {
            for line in text.trim_end().split('\n') {
                out.push_str(if line.is_empty() { ">" } else { "> " });
                out.push_str(line);
                out.push('\n');
            }
        }
        Block::ToolCall { id, name, arguments, .. } => {
            out.push_str(&format!("Tool call `{}` (`{}`):\n\n", one_line(name), one_line(id)));
            fenced(&arguments_text(arguments), if arguments.is_string() { "" } else { "json" }, out);
        }
        Block::ToolResult { tool_call_id, content, is_error, .. } => {
            let what = if *is_error == Some(true) { "Failed tool result" } else { "Tool result" };
            out.push_str(&format!("{what} (`{}`):\n\n", one_line(tool_call_id)));
            fenced(&result_text(content), "", out);
        }
        Block::Image(_) | Block::Audio(_) => {
            out.push_str(&type_placeholder(block));
            out.push('\n');
        }
    }
}

fn fenced(text: &str, language: &str, out: &mut String) {
    let fence = fence(text);
    out.push_str(&format!("{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n')));
}

pub(crate) fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// A fence longer than any run of backticks in the text.
pub(crate) fn fence(text: &str) -> String {
    let (mut longest, mut run) = (0_usize, 0_usize);
    for ch in text.chars() {
        run = if ch == '`' { run.saturating_add(1) } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat(longest.saturating_add(1).max(3))
}

/// HTML elements that Markdown reads raw until one of them is closed.
const RAW: [&str; 4] = ["pre", "script", "style", "textarea"];

/// The raw element that is open behind a line.
fn raw_element(open: Option<&'static str>, line: &str) -> Option<&'static str> {
    let line = line.trim_start().to_ascii_lowercase();
    let begins = |name: &&str| {
        let rest = line.strip_prefix('<').and_then(|rest| rest.strip_prefix(name));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '>']))
    };
    let closes = |name: &&str| line.contains(&format!("</{name}>"));
    open.or_else(|| RAW.into_iter().find(begins)).filter(|_| !RAW.iter().any(closes))
}

/// Text that stays inside its turn: headings are two levels deeper, and what is left open is closed.
fn contained(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blocks = Blocks::default();
    let (mut after_text, mut raw) = (false, None);
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let bare = line.trim();
        let is_prose = raw.is_none() && blocks.next(line) == Part::Prose && !bare.is_empty();
        if is_prose || raw.is_some() {
            raw = raw_element(raw, line);
        }
        let level = heading(line).filter(|_| is_prose).map_or(0, |(level, _)| level);
        // A line of these under a text makes a heading of it.
        let underlines = ["=", "-"].iter().any(|mark| bare.trim_matches(|ch| mark.contains(ch)).is_empty());
        if is_prose && after_text && underlines {
            out.push('\n');
        }
        let inner = line.trim_start_matches(' ');
        out.push_str(line.get(..line.len().saturating_sub(inner.len())).unwrap_or_default());
        if level > 0 {
            out.push_str(&"#".repeat(6_usize.saturating_sub(level).min(2)));
        }
        out.push_str(inner);
        after_text = is_prose && level == 0 && !underlines;
    }
    if let Some(fence) = blocks.closing_fence() {
        out.push('\n');
        out.push_str(&fence);
    } else if blocks.in_comment() {
        out.push_str("\n-->");
    } else if let Some(name) = raw {
        out.push_str(&format!("\n</{name}>"));
    }
    out
}
