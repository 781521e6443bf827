//! Request bodies (SPEC §1 "Provider bodies").

mod cache;
mod properties;
mod reasoning;
pub(crate) mod rules;
mod writing;
