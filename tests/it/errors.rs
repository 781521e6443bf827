//! Errors and their codes.

use ctxweave::{Code, DiagnosticCode, Error};

#[test]
fn an_error_is_one_word_wide() {
    assert_eq!(size_of::<Error>(), size_of::<usize>());
}

#[test]
fn codes_are_snake_case_unique_and_sorted() {
    let names: Vec<_> = Code::ALL.iter().map(|c| c.as_str()).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(names, sorted);
    assert!(names.iter().all(|n| n.chars().all(|c| c.is_ascii_lowercase() || c == '_')));
    let names: Vec<_> = DiagnosticCode::ALL.iter().map(|c| c.as_str()).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(names, sorted);
}

#[test]
fn an_error_shows_its_code_and_message() {
    let error = Error::new(Code::NodeNotFound, "node `x` is not in the tree").with("nodeId", "x");
    assert_eq!(error.to_string(), "node_not_found: node `x` is not in the tree");
    assert_eq!(error.details()["nodeId"], "x");
}
