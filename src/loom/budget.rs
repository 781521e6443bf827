//! The effective settings for a tree and a request, and the resulting limit.

use crate::assembly::budget;
use crate::assembly::settings::{Fill, Preferences, Settings, whole};
use crate::error::{Diagnostic, Result};
use crate::loom::request::Options;
use crate::loom::tree::Tree;

/// The effective settings, and the limit: each from the request, the tree, the application or the defaults.
pub(crate) fn settings(tree: &Tree, options: &Options, default_marker: &str) -> Result<(Settings, u64)> {
    let preferences = preferences(tree, options);
    let settings = Settings::resolve(&preferences, default_marker)?;
    let limit = budget::limit(whole("contextWindow", options.context_window)?, settings.token_buffer)?;
    Ok((settings, limit))
}

fn preferences(tree: &Tree, options: &Options) -> Preferences {
    options.preferences.over(&tree.settings().preferences).over(&options.app_preferences)
}

/// The diagnostic for a `fill` next to a `cutStep`.
pub(crate) fn ignored_fill(tree: &Tree, options: &Options, settings: &Settings) -> Option<Diagnostic> {
    let fill = preferences(tree, options).fill?;
    (settings.cut_step > 0 && fill != Fill::Off).then(|| Diagnostic::ignored_fill("preferences.fill"))
}
