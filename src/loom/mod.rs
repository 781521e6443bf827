//! Loom.
