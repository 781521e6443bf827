//! Absolute paths with `/`: the paths of the host, where no vault is the root.

use crate::error::{Code, Error, Result};
use crate::limits::{self, Limits};

/// Normalizes an absolute path: `.`, `..`, empty segments and backslashes are resolved.
pub(super) fn absolute(path: &str, limits: &Limits) -> Result<String> {
    if !path.starts_with('/') || path.contains('\0') {
        let message = format!("the path `{path}` is not absolute; begin it with `/`");
        return Err(Error::new(Code::InvalidInput, message).with("path", path));
    }
    limits::check("folderDepth", path.split('/').count(), limits.folder_depth.saturating_add(2))?;
    Ok(join("/", path))
}

/// A path as seen from a folder. `..` stops at the root.
pub(super) fn join(folder: &str, path: &str) -> String {
    let start = if path.starts_with('/') { "" } else { folder };
    let mut segments: Vec<&str> = Vec::new();
    for segment in start.split('/').chain(path.split('/')) {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            name => segments.push(name),
        }
    }
    format!("/{}", segments.join("/"))
}

/// The folder of a path; `/` for what is at the root.
pub(super) fn folder(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((folder, _)) => folder,
    }
}

pub(super) fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The path below a folder; `None` for one outside, empty for the folder itself.
pub(super) fn below<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    let rest = if folder == "/" { path } else { path.strip_prefix(folder)? };
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// A folder and its parents, the nearest first, `/` last.
pub(super) fn upwards(of: &str) -> Vec<&str> {
    let mut all = vec![of];
    let mut at = of;
    while at != "/" {
        at = folder(at);
        all.push(at);
    }
    all
}
