//! Request bodies (SPEC §1 "Provider bodies").

mod properties;
pub(crate) mod rules;
mod writing;
