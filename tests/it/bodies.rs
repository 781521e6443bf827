//! Request bodies (SPEC §1 "Provider bodies").

mod writing;
