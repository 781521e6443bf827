//! The integration tests: one binary, one module for each subject.

mod smoke;
