//! Request bodies (SPEC §1 "Provider bodies").

mod properties;
mod rules;
mod writing;
