//! Unit tests of private items in `src/commits/artifact.rs`.

use super::*;

#[test]
fn refs_have_two_forms_and_those_of_other_stores() {
    let full = artifact_ref(b"blob");
    let short = short_ref(&full).unwrap();
    let digits = full.strip_prefix("blake3:").unwrap();
    assert!(digits.starts_with(short.strip_prefix("art-").unwrap()) && short.len() == 16);
    assert_eq!(short_ref(&short).unwrap(), short);
    assert!(RefForm::of(&full).unwrap().names(&full) && RefForm::of(&short).unwrap().names(&full));
    assert!(!RefForm::of(&short).unwrap().names(&artifact_ref(b"other")));
    for wrong in ["", "blake3:", "art-", digits.get(..63).unwrap(), full.get(..70).unwrap(), &full.to_uppercase()] {
        assert_eq!(RefForm::of(wrong), None, "{wrong}");
    }
    for foreign in ["art-0123456789aB", "art-0123456789ab0", "art-0123456789a", "art-a:b", "sha256:0", "svn+ssh:r.1-2"]
    {
        let form = RefForm::of(foreign).unwrap();
        assert_eq!((form, form.may_be_short()), (RefForm::Foreign(foreign), foreign.starts_with("art-")));
    }
    assert!(RefForm::of(&short).unwrap().may_be_short() && !RefForm::of(&full).unwrap().may_be_short());
    let longest = format!("x:{}", "y".repeat(MAX_FOREIGN_REF_BYTES - 2));
    assert_eq!(RefForm::of(&longest), Some(RefForm::Foreign(&longest)));
    for wrong in ["a1b2c3d4-1", "BLAKE3:0", "x_y:z", "1:x", "x:", "x:\u{e9}", &format!("{longest}y")] {
        assert_eq!(RefForm::of(wrong), None, "{wrong}");
    }
    assert_eq!((short_ref(digits).unwrap(), normalized(digits)), (short, full));
    assert_eq!(short_ref("x").unwrap_err().code(), Code::InvalidInput);
}

#[test]
fn a_blob_in_parts_has_the_ref_of_the_whole() {
    let mut hasher = ArtifactHasher::default();
    hasher.update(b"con");
    hasher.update(b"text");
    assert_eq!(hasher.artifact_ref(), artifact_ref(b"context"));
}
