//! Renders a conversation as a structured narrative in Markdown, turn by turn (docs/sessions.md, tier `rendering`).

use crate::commits::formats::NamedFormat;
use crate::commits::transcript::{Role, Summary, Turn, result_text, type_placeholder};
use crate::content::{Block, arguments_text};
use crate::markdown::{fence as fence_of, heading, lines};

/// The narrative of a conversation: for each turn a heading, then its texts. Reasoning is quoted; calls and results are
/// in fences that their content cannot close; open constructs in a text are closed, or the text is in such a fence too.
/// The summaries of its commits come first.
pub(crate) fn narrative(turns: &[Turn], format: &NamedFormat<'_>, summaries: &[Summary<'_>]) -> String {
    let mut out = String::new();
    out.push_str("# Earlier conversation\n\n");
    out.push_str(&format!(
        "This is what a previous session (`{format}`) knew, turn by turn. It is context, not a conversation to answer.\n"
    ));
    if !summaries.is_empty() {
        out.push_str("\nSummaries of its parts:\n\n");
        for (commit, summary) in summaries {
            let name = if commit.is_empty() { String::new() } else { format!("`{}`: ", one_line(commit)) };
            out.push_str(&format!("- {name}{}\n", one_line(summary.trim())));
        }
    }
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
        Role::System | Role::Developer => "System",
        Role::Tool => "Tool results",
        Role::User if only_results => "Tool results",
        Role::User => "User",
        Role::Assistant => "Assistant",
    }
}

fn write(block: &Block, out: &mut String) {
    match block {
        Block::Text(text) => {
            let text = text.trim_end();
            match contained(text) {
                Some(contained) => {
                    out.push_str(&contained);
                    out.push('\n');
                }
                None => fenced(text, "", out),
            }
        }
        Block::Reasoning { redacted: true, .. } => out.push_str("> (sealed thoughts)\n"),
        Block::Reasoning { text, .. } => {
            for line in lines(text.trim_end()) {
                out.push_str(if line.text.is_empty() { ">" } else { "> " });
                out.push_str(line.text);
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
        Block::Vendor(block) if block.phase().is_some() => {}
        Block::Vendor(block) => match block.summary() {
            Some(summary) => write(&Block::text(summary), out),
            None => out.push_str(&format!("> (`{}`)\n", one_line(block.name()))),
        },
        Block::Image(_) | Block::Audio(_) => {
            out.push_str(&one_line(&type_placeholder(block)));
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

/// The element that is open after a line.
#[derive(Debug, PartialEq, Eq)]
enum Open {
    Nothing,
    /// A tag at the start of a line: up to a blank line this may be raw HTML.
    Tag,
    /// Raw HTML up to a line with this text.
    Raw(&'static str),
    Code(Fence),
}

/// An open code fence.
#[derive(Debug, PartialEq, Eq)]
struct Fence {
    /// The text before it on its line, with spaces replacing list markers.
    prefix: String,
    /// The length of the prefix without trailing spaces: the prefix of a blank line.
    blank: usize,
    mark: char,
    length: usize,
}

/// HTML that Markdown reads raw up to its end, by the lower-case beginning of a line (CommonMark, HTML blocks 1 to 5).
const RAW: [(&str, &str); 8] = [
    ("<pre", "</pre>"),
    ("<script", "</script>"),
    ("<style", "</style>"),
    ("<textarea", "</textarea>"),
    ("<!--", "-->"),
    ("<![cdata[", "]]>"),
    ("<?", "?>"),
    ("<!", ">"),
];

/// In CommonMark each of these ends any of the elements, in other dialects only its own element.
const ELEMENT_ENDS: &[&str] = &["</pre>", "</script>", "</style>", "</textarea>"];

/// The element that a line of prose beginning with `<` opens.
fn html(line: &str) -> Open {
    let lower = line.to_ascii_lowercase();
    for (start, end) in RAW {
        let Some(rest) = lower.strip_prefix(start) else { continue };
        let begins = match start {
            "<![cdata[" => line.starts_with("<![CDATA["),
            "<!" => rest.starts_with(|ch: char| ch.is_ascii_alphabetic()),
            "<!--" | "<?" => true,
            _ => rest.is_empty() || rest.starts_with([' ', '\t', '>']),
        };
        if begins {
            return if rest.contains(end) { Open::Nothing } else { Open::Raw(end) };
        }
    }
    Open::Tag
}

/// Whether a line has an end of raw HTML for some parser, and for all.
fn has_end(line: &str, end: &str) -> (bool, bool) {
    let line = line.to_ascii_lowercase();
    let is_own = line.contains(end);
    let is_any = is_own || (is_element_end(end) && ELEMENT_ENDS.iter().any(|end| line.contains(end)));
    (is_any, is_own)
}

fn is_element_end(end: &str) -> bool {
    end.starts_with("</")
}

/// Splits a line into indentation, `>` and list markers, and their content.
fn in_container(line: &str) -> (&str, &str) {
    let mut inner = line;
    loop {
        inner = inner.trim_start_matches([' ', '\t', '>']);
        let rest = inner.trim_start_matches(|ch: char| ch.is_ascii_digit());
        let marks: &[char] = if rest.len() == inner.len() { &['-', '+', '*'] } else { &['.', ')'] };
        match rest.strip_prefix(marks).filter(|rest| rest.starts_with([' ', '\t'])) {
            Some(rest) => inner = rest,
            None => return line.split_at_checked(line.len().saturating_sub(inner.len())).unwrap_or(("", line)),
        }
    }
}

/// Text that stays inside its turn: headings are two levels deeper, and open constructs are closed. `None` if only a
/// Markdown parser could determine what is open.
fn contained(text: &str) -> Option<String> {
    const SPACE: [char; 2] = [' ', '\t'];
    let mut out = String::with_capacity(text.len());
    let (mut open, mut after_text) = (Open::Nothing, false);
    for line in lines(text) {
        let bare = line.text.trim_matches(SPACE);
        let (before, inner) = in_container(line.text);
        let mut is_prose = !bare.is_empty();
        match &open {
            Open::Code(Fence { prefix, blank, mark, length }) => {
                is_prose = false;
                let is_blank = || prefix.get(..*blank) == Some(line.text.trim_end_matches(SPACE));
                if !line.text.starts_with(prefix) && !is_blank() {
                    return None;
                }
                let is_end = |(other, long, after): (char, usize, &str)| {
                    other == *mark && long >= *length && after.trim_matches(SPACE).is_empty()
                };
                if fence_of(inner).is_some_and(is_end) {
                    if before != prefix {
                        return None;
                    }
                    open = Open::Nothing;
                }
            }
            Open::Raw(end) => {
                is_prose = false;
                match has_end(line.text, end) {
                    (false, _) => {}
                    // Some parsers continue after the end if it is not an element.
                    (_, true) if is_element_end(end) || bare.ends_with(end) => open = Open::Nothing,
                    _ => return None,
                }
            }
            Open::Nothing | Open::Tag if bare.is_empty() => open = Open::Nothing,
            Open::Nothing | Open::Tag => {
                let fence = fence_of(inner).filter(|(mark, _, after)| *mark == '~' || !after.contains('`'));
                let found = match fence {
                    Some((mark, length, _)) => {
                        let prefix = before.replace(['-', '+', '*'], " ");
                        Open::Code(Fence { blank: prefix.trim_end_matches(SPACE).len(), prefix, mark, length })
                    }
                    None if inner.starts_with('<') => html(inner),
                    None => Open::Nothing,
                };
                let is_sure = match &found {
                    Open::Code(fence) => {
                        open == Open::Nothing && !fence.prefix.contains(|ch: char| ch.is_ascii_digit())
                    }
                    // Parsers disagree whether `<!-->` ends itself, and which of these may follow a text.
                    Open::Raw(end) => {
                        open == Open::Nothing && before.is_empty() && !after_text && !has_end(inner, end).0
                    }
                    Open::Nothing | Open::Tag => true,
                };
                if !is_sure {
                    return None;
                }
                if found != Open::Nothing {
                    is_prose = found == Open::Tag;
                    open = found;
                }
            }
        }
        let level = heading(line.text).filter(|_| is_prose).map_or(0, |(level, _)| level);
        // A line of these characters below a text makes it a heading.
        let underlines = ["=", "-"].iter().any(|mark| bare.trim_matches(|ch| mark.contains(ch)).is_empty());
        if is_prose && after_text && underlines {
            out.push('\n');
        }
        let inner = line.text.trim_start_matches(' ');
        out.push_str(line.text.get(..line.text.len().saturating_sub(inner.len())).unwrap_or_default());
        if level > 0 {
            out.push_str(&"#".repeat(6_usize.saturating_sub(level).min(2)));
        }
        out.push_str(inner);
        out.push_str(match text.get(line.text_end()..line.end) {
            Some("\r") => "\n",
            end => end.unwrap_or_default(),
        });
        after_text = !bare.is_empty();
    }
    match open {
        Open::Nothing | Open::Tag => {}
        Open::Raw(end) => out.extend(["\n", end]),
        Open::Code(Fence { prefix, mark, length, .. }) => {
            out.push('\n');
            out.push_str(&prefix);
            out.extend(std::iter::repeat_n(mark, length));
        }
    }
    Some(out)
}
