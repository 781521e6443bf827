//! The proof that the module does no IO: it can only do what it imports.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use wasmparser::{Parser, Payload};

/// Fails when the module does not import just what is in the list: an entry that nothing needs would let something in
/// later that nobody looked at.
pub fn check(wasm: &[u8], allowed: &[String]) -> Result<()> {
    let found = names(wasm)?;
    let foreign: Vec<_> = found.iter().filter(|name| !allowed.contains(name)).map(String::as_str).collect();
    if !foreign.is_empty() {
        bail!(
            "the module imports `{}`, which `imports` in the manifest does not allow: take out what needs it, or allow it",
            foreign.join("`, `")
        );
    }
    let idle: Vec<_> = allowed.iter().filter(|name| !found.contains(*name)).map(String::as_str).collect();
    if !idle.is_empty() {
        bail!(
            "`imports` in the manifest allows `{}`, which the module does not import: take it out",
            idle.join("`, `")
        );
    }
    Ok(())
}

/// The names of all imports, without wasm-bindgen's hashes.
fn names(wasm: &[u8]) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for payload in Parser::new(0).parse_all(wasm) {
        if let Payload::ImportSection(section) = payload.context("the module is damaged")? {
            for import in section.into_imports() {
                names.insert(without_hash(import?.name).to_owned());
            }
        }
    }
    Ok(names)
}

/// `__wbg_get_0123456789abcdef` → `__wbg_get`.
fn without_hash(name: &str) -> &str {
    match name.rsplit_once('_') {
        Some((stem, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => stem,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with one type `() -> ()` and one import `e.now`.
    const IMPORTS_NOW: &[u8] = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x02\x09\x01\x01e\x03now\0\0";

    #[test]
    fn a_foreign_import_is_named() {
        let error = check(IMPORTS_NOW, &["then".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("imports `now`"), "{error}");
        check(IMPORTS_NOW, &["now".to_owned()]).unwrap();
    }

    #[test]
    fn what_is_allowed_and_not_needed_is_named() {
        let error = check(IMPORTS_NOW, &["now".to_owned(), "then".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("allows `then`"), "{error}");
    }

    #[test]
    fn hashes_are_left_off_and_nothing_else() {
        assert_eq!(without_hash("__wbg_get_0123456789abcdef"), "__wbg_get");
        assert_eq!(without_hash("__wbindgen_init_externref_table"), "__wbindgen_init_externref_table");
        assert_eq!(without_hash("now"), "now");
    }
}
