//! Rules about the files themselves.

use std::fs;

use anyhow::Result;

use crate::process::output;
use crate::project::Project;

/// What is wrong, one line each: `path:line: why`.
pub fn problems(project: &Project) -> Result<Vec<String>> {
    let listed = output(project.command("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]))?;
    let mut problems = Vec::new();
    for path in listed.lines() {
        // Binary files and files that were just deleted have no lines to look at.
        let Ok(text) = fs::read_to_string(project.path(path)) else { continue };
        for (at, line) in text.lines().enumerate() {
            problems.extend(problem(line).map(|why| format!("{path}:{}: {why}", at + 1)));
        }
    }
    Ok(problems)
}

/// Where packages come from is the business of whoever installs them, and so is where they keep their files.
fn problem(line: &str) -> Option<String> {
    // Written in two halves, so that this file does not break its own rule.
    const HOSTS: [[&str; 2]; 9] = [
        ["registry.", "npmjs"],
        ["registry.", "yarnpkg"],
        ["static.", "crates.io"],
        ["index.", "crates.io"],
        ["//", "crates.io"],
        ["//pypi", ".org"],
        ["files.", "pythonhosted"],
        ["deb.", "debian.org"],
        ["security.", "debian.org"],
    ];
    const FOLDERS: [[&str; 2]; 4] = [["/ro", "ot/"], ["/ho", "me/"], ["/Us", "ers/"], ["/wo", "rk/"]];
    if let Some(host) = HOSTS.map(|halves| halves.concat()).into_iter().find(|host| line.contains(host)) {
        return Some(format!(
            "names a package registry (`{host}`); packages are named without saying where they come from"
        ));
    }
    // At the start of a path only: `src/work/` is as good a name as any.
    let starts = |folder: &String| {
        line.match_indices(folder.as_str()).any(|(at, _)| {
            !line[..at].ends_with(|before: char| before.is_alphanumeric() || "._-/~})]$*:".contains(before))
        })
    };
    let folder = FOLDERS.map(|halves| halves.concat()).into_iter().find(starts)?;
    Some(format!("names a folder of one machine (`{folder}`); say it from the root of the project"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_is_tidy() {
        let problems = problems(&Project::find().unwrap()).unwrap();
        assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    }

    #[test]
    fn untidy_lines_are_found() {
        for halves in [["see https://registry.", "npmjs.org/x"], ["path = \"/ro", "ot/x\""], ["cd /wo", "rk/main"]] {
            assert!(problem(&halves.concat()).is_some(), "{halves:?}");
        }
        for line in
            ["registry+https://github.com/rust-lang/crates.io-index", "src/work/mod.rs", "./home/x", "a fine line"]
        {
            assert_eq!(problem(line), None, "{line}");
        }
    }
}
