//! What a module does when something is wrong with the program itself: it traps, and says nothing.
//!
//! A panic of Rust makes a message and looks for somebody to give it to. In the module there is nobody: it imports no
//! console. So the functions that never return are made to trap at once, and wasm-opt leaves out what only they needed:
//! messages, the formatting of their values, the places in the source.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use wasmparser::{BinaryReader, KnownCustom, Name, Parser, Payload, TypeRef};

use crate::order::number;

/// What the names of functions of the standard library begin with that have the type `!`, all of them.
const BEGINNINGS: &[&str] = &["core::panicking::", "__rustc::rust_panic", "__rustc::rust_begin_unwind"];

/// The last parts of the names of others.
const LAST: &[&str] = &[
    "assert_failed",
    "capacity_overflow",
    "expect_failed",
    "handle_alloc_error",
    "handle_error",
    "len_mismatch_fail",
    "panic_access_error",
    "panic_already_borrowed",
    "panic_already_mutably_borrowed",
    "panic_on_ord_violation",
    "panic_with_hook",
    "rust_oom",
    "slice_error_fail",
    "slice_error_fail_rt",
    "slice_index_fail",
    "unwrap_failed",
];

/// No locals, `unreachable`, `end`.
const TRAP: &[u8] = &[0, 0x00, 0x0b];

const CODE_SECTION: u8 = 10;

/// The module with the functions that never return made to trap. It has to have the names of its functions still.
pub fn trap(module: &[u8]) -> Result<Vec<u8>> {
    let never = never_returning(module)?;
    ensure!(!never.is_empty(), "no function of the module is known never to return: has it no names, or others?");
    let (header, rest) = module.split_at_checked(8).context("the module is damaged")?;
    let mut out = header.to_vec();
    let mut reader = BinaryReader::new(rest, 0);
    while !reader.eof() {
        let id = reader.read_u8()?;
        let length = reader.read_var_u32()? as usize;
        let content = reader.read_bytes(length)?;
        out.push(id);
        if id == CODE_SECTION {
            let code = trapping(content, &never)?;
            number(&mut out, code.len());
            out.extend(code);
        } else {
            number(&mut out, length);
            out.extend(content);
        }
    }
    Ok(out)
}

/// The section of code with other bodies for these functions.
fn trapping(section: &[u8], never: &BTreeSet<u32>) -> Result<Vec<u8>> {
    let mut reader = BinaryReader::new(section, 0);
    let count = reader.read_var_u32()?;
    let mut out = Vec::new();
    number(&mut out, count as usize);
    for function in 0..count {
        let length = reader.read_var_u32()? as usize;
        let body = reader.read_bytes(length)?;
        let body = if never.contains(&function) { TRAP } else { body };
        number(&mut out, body.len());
        out.extend(body);
    }
    Ok(out)
}

/// Which of the module's own functions never return.
pub fn never_returning(module: &[u8]) -> Result<BTreeSet<u32>> {
    let mut imported = 0;
    let mut found = BTreeSet::new();
    for payload in Parser::new(0).parse_all(module) {
        match payload.context("the module is damaged")? {
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            Payload::CustomSection(section) => {
                let KnownCustom::Name(names) = section.as_known() else { continue };
                for names in names {
                    let Name::Function(names) = names? else { continue };
                    for name in names {
                        let name = name?;
                        if never_returns(name.name) {
                            found.extend(name.index.checked_sub(imported));
                        }
                    }
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

/// The name of a function as it is in the source: the compiler's own form of it, which wasm-bindgen undoes, goes, and so do the
/// numbers in names of libraries: `core[0123456789abcdef]::panicking::panic_fmt`.
pub fn plain_name(name: &str) -> String {
    let name = format!("{:#}", rustc_demangle::demangle(name));
    let mut plain = String::new();
    for part in name.split(']') {
        plain += part.split_once('[').map_or(part, |(before, _)| before);
    }
    plain
}

/// Whether a function with this name never returns.
fn never_returns(name: &str) -> bool {
    let plain = plain_name(name);
    let last = plain.rsplit("::").find(|part| !part.starts_with('<')).unwrap_or_default();
    let library = plain.trim_start_matches('<').split("::").next().unwrap_or_default();
    let of_library = ["alloc", "core", "hashbrown", "std"].contains(&library);
    BEGINNINGS.iter().any(|begin| plain.starts_with(begin)) || (of_library && LAST.contains(&last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_returns_is_known_by_its_name() {
        for name in [
            "core[c5930c85a12de822]::panicking::panic_fmt",
            "core[c5930c85a12de822]::panicking::assert_failed::<usize, usize>",
            "<alloc[3ca501edff3f0c7c]::vec::Vec<_, _>>::remove::assert_failed",
            "hashbrown::raw::Fallibility::capacity_overflow",
            "_RNvNtCsgXGp5Oqx2Ny_4core9panicking18panic_bounds_check",
            "__rustc[b7974e8690430dd9]::rust_panic",
        ] {
            assert!(never_returns(name), "{name}");
        }
        for name in [
            "ctxweave::loom::read::options",
            "ctxweave::folders::expect_failed",
            "core::option::Option<T>::map",
            "<std[a543996e6e7dbf1e]::panicking::panic_handler::StaticStrPayload as core[c5930c85a12de822]::panic::PanicPayload>::as_str",
            "<[u8]>::to_vec",
        ] {
            assert!(!never_returns(name), "{name}");
        }
    }

    #[test]
    fn only_what_never_returns_traps() {
        // One import `e.f`; two functions of type `() -> ()`, which return: `a` and `core::panicking::panic`.
        let before = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x02\x07\x01\x01e\x01f\0\0\x03\x03\x02\0\0";
        let code = b"\x0a\x07\x02\x02\0\x0b\x02\0\x0b";
        let names = b"\0\x23\x04name\x01\x1c\x02\x01\x01a\x02\x16core::panicking::panic";
        let trapping = trap(&[&before[..], code, names].concat()).unwrap();
        assert_eq!(trapping, [&before[..], b"\x0a\x08\x02\x02\0\x0b\x03\0\0\x0b", names].concat());
        let error = trap(&[&before[..], code].concat()).unwrap_err().to_string();
        assert!(error.contains("has it no names"), "{error}");
    }
}
