//! The settings in force for a tree and a request, and the limit that follows from them.

use crate::assembly::budget;
use crate::assembly::settings::{Settings, whole};
use crate::error::Result;
use crate::loom::request::Options;
use crate::loom::tree::Tree;

/// The settings in force, and the limit: each from the request, the tree, the application or the defaults.
pub(crate) fn settings(tree: &Tree, options: &Options, default_marker: &str) -> Result<(Settings, u64)> {
    let preferences = options.preferences.over(&tree.settings().preferences).over(&options.app_preferences);
    let settings = Settings::resolve(&preferences, default_marker)?;
    let limit = budget::limit(whole("contextWindow", options.context_window)?, settings.token_buffer)?;
    Ok((settings, limit))
}
