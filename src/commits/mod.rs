//! Context commits: an agent's understanding, stored, forked, resumed and materialised (SPEC §5).

pub mod formats;
