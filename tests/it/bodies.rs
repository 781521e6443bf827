//! Request bodies (SPEC §1 "Provider bodies").

mod properties;
mod reasoning;
pub(crate) mod rules;
mod writing;
