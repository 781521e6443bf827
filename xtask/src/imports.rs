//! The proof that a module does no IO: it can only do what it imports.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use wasmparser::{Parser, Payload};

/// Fails when the module imports what is neither in `shared` nor in `own`, or does not import all of `own`: an allowance that
/// nothing needs would admit something later that nobody looked at. `shared` may have more; see [`check_shared`].
pub fn check(wasm: &[u8], shared: &[String], own: &[String]) -> Result<()> {
    let found = names(wasm)?;
    let is_allowed = |name: &String| shared.contains(name) || own.contains(name);
    let foreign: Vec<_> = found.iter().filter(|name| !is_allowed(name)).map(String::as_str).collect();
    if !foreign.is_empty() {
        bail!("the module imports `{}`, which the manifest does not allow; remove what needs it", foreign.join("`, `"));
    }
    let unused: Vec<_> = own.iter().filter(|name| !found.contains(*name)).map(String::as_str).collect();
    if !unused.is_empty() {
        bail!("`imports` allows `{}`, which the module does not import; remove it", unused.join("`, `"));
    }
    Ok(())
}

/// Fails when no module imports one of `shared`.
pub fn check_shared(modules: &[Vec<u8>], shared: &[String]) -> Result<()> {
    let mut found = BTreeSet::new();
    for module in modules {
        found.extend(names(module)?);
    }
    let unused: Vec<_> = shared.iter().filter(|name| !found.contains(*name)).map(String::as_str).collect();
    if !unused.is_empty() {
        bail!("`build.imports` allows `{}`, which no module imports; remove it", unused.join("`, `"));
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

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_foreign_import_is_named() {
        let error = check(IMPORTS_NOW, &list(&["then"]), &[]).unwrap_err().to_string();
        assert!(error.contains("imports `now`"), "{error}");
        check(IMPORTS_NOW, &[], &list(&["now"])).unwrap();
        check(IMPORTS_NOW, &list(&["now"]), &[]).unwrap();
    }

    #[test]
    fn an_unused_import_of_a_flavor_is_named() {
        let error = check(IMPORTS_NOW, &[], &list(&["now", "then"])).unwrap_err().to_string();
        assert!(error.contains("allows `then`"), "{error}");
    }

    #[test]
    fn a_shared_import_is_unused_only_if_no_module_has_it() {
        let empty = b"\0asm\x01\0\0\0".to_vec();
        let shared = list(&["now"]);
        check(&empty, &shared, &[]).unwrap();
        check_shared(&[empty.clone(), IMPORTS_NOW.to_vec()], &shared).unwrap();
        let error = check_shared(&[empty], &shared).unwrap_err().to_string();
        assert!(error.contains("allows `now`"), "{error}");
    }

    #[test]
    fn hashes_are_left_off_and_nothing_else() {
        assert_eq!(without_hash("__wbg_get_0123456789abcdef"), "__wbg_get");
        assert_eq!(without_hash("__wbindgen_init_externref_table"), "__wbindgen_init_externref_table");
        assert_eq!(without_hash("now"), "now");
    }
}
