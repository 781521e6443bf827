//! Unit tests of private items in `src/folders/render.rs`.

use super::*;

#[test]
fn names_become_titles() {
    for (name, title) in [
        ("parachute", "Parachute"),
        ("well-being", "Well Being"),
        ("iOS app", "iOS App"),
        ("éa_b", "Éa B"),
        ("--", "--"),
    ] {
        assert_eq!(title_case(name), title);
    }
}

#[test]
fn plurals_have_singulars() {
    for (many, one) in [
        ("Projects", "Project"),
        ("Areas", "Area"),
        ("Companies", "Company"),
        ("Classes", "Class"),
        ("Branches", "Branch"),
        ("Boxes", "Box"),
        ("Notes", "Note"),
        ("Status", "Status"),
        ("Business", "Business"),
        ("Series", "Series"),
        ("People", "Person"),
        ("Archive", "Archive"),
        ("iOS", "iOS"),
        ("", ""),
    ] {
        assert_eq!(singular(many), one);
    }
}
