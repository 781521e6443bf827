//! Unit tests of private items in `src/commits/id.rs`.

use super::*;

#[test]
fn fields_do_not_run_into_each_other() {
    let ids = [
        commit_id(None, "ab", "c", None),
        commit_id(None, "a", "bc", None),
        commit_id(Some("a"), "b", "c", None),
        commit_id(None, "ab", "", Some("c")),
    ];
    assert!(ids.iter().all(|id| is_own_form(id)));
    assert_eq!(crate::maps::SortedSet::from_iter(ids).len(), 4);
}

#[test]
fn ids_from_elsewhere_are_ids() {
    for id in ["ctx-a001", "ctx-rev-003", "ctx-ü"] {
        assert!(is_id(id) && !is_own_form(id), "{id}");
    }
    for id in ["", "ctx", "ctx-", "ctx- ", "ctx-a b", "tkt-1", "CTX-a", "ctx-\n"] {
        assert!(!is_id(id), "{id}");
    }
    assert!(!is_id(&format!("ctx-{}", "a".repeat(300))));
}
