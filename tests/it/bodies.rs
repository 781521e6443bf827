//! Request bodies (docs/bodies.md).

mod cache;
mod properties;
mod reasoning;
pub(crate) mod rules;
mod writing;
