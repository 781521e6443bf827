//! What a module does when something is wrong with the program itself: it traps, and says nothing.
//!
//! A panic of Rust makes a message and looks for somebody to give it to. In the module there is nobody: it imports no
//! console. So the functions that never return are made to trap at once, and wasm-opt leaves out what only they needed:
//! messages, the formatting of their values. Their places in the source and their words, which stay in the data, become zeros.

use std::collections::BTreeSet;
use std::ops::Range;

use anyhow::{Context, Result, ensure};
use wasmparser::{BinaryReader, DataKind, KnownCustom, Name, Operator, Parser, Payload, TypeRef};

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

/// What only panics say, in the words of the standard library.
const MESSAGES: &[&str] = &[
    " but ends at ",
    " but the index is ",
    " out of range for slice of length ",
    ") does not match destination slice length (",
    ") should be <= len (is ",
    "Attempted to initialize thread-local while it is being dropped",
    "assertion `left ",
    "assertion failed: ",
    "attempt to join into collection with len > usize::MAX",
    "cannot access a Thread Local Storage value during or after destruction: ",
    "copy_from_slice: source slice length (",
    "index out of bounds: the len is ",
    "insertion index (is ",
    "min > max. min = ",
    "range end index ",
    "range start index ",
    "removal index (is ",
    "slice index starts at ",
    "swap_remove index (is ",
];

/// Bytes of a place in the source as a module has it: where its file's name is, how long that is, line and column.
const PLACE: usize = 16;

/// Puts zeros in the place of what nobody reads once panics trap: where in the source they are, and what they say. The data
/// stays as long as it is, since the code has addresses.
pub fn blank(module: &mut [u8]) -> Result<()> {
    let mut blanks = Vec::new();
    for (address, data) in data_of(module)? {
        let bytes = &module[data.clone()];
        let range_of = |from: u32, len: u32| {
            let from = from.checked_sub(address)? as usize;
            bytes.get(from..from.checked_add(len as usize)?).map(|name| (data.start + from, name))
        };
        let padding = address.next_multiple_of(4) - address;
        for at in (padding as usize..bytes.len().saturating_sub(PLACE - 1)).step_by(4) {
            let number = |field: usize| bytes[at + 4 * field..].first_chunk().map_or(0, |it| u32::from_le_bytes(*it));
            let is_place =
                matches!(number(1), 4..300) && matches!(number(2), 1..100_000) && matches!(number(3), 1..1000);
            let Some((from, name)) = range_of(number(0), number(1)).filter(|_| is_place) else { continue };
            if name.ends_with(b".rs") && name.iter().all(u8::is_ascii_graphic) {
                blanks.extend([data.start + at..data.start + at + PLACE, from..from + name.len()]);
            }
        }
        for message in MESSAGES {
            let found = bytes.windows(message.len()).enumerate().filter(|(_, window)| *window == message.as_bytes());
            blanks.extend(found.map(|(at, _)| data.start + at..data.start + at + message.len()));
        }
    }
    ensure!(!blanks.is_empty(), "the module has no places of panics: has the compiler another layout for them?");
    blanks.into_iter().for_each(|blank| module[blank].fill(0));
    Ok(())
}

/// The parts of the memory that the module brings: the address of each, and where its bytes are.
fn data_of(module: &[u8]) -> Result<Vec<(u32, Range<usize>)>> {
    let mut found = Vec::new();
    for payload in Parser::new(0).parse_all(module) {
        let Payload::DataSection(section) = payload.context("the module is damaged")? else { continue };
        for data in section {
            let data = data?;
            let DataKind::Active { offset_expr, .. } = data.kind else { continue };
            let Operator::I32Const { value } = offset_expr.get_operators_reader().read()? else { continue };
            let end = usize::try_from(data.range.end)?;
            found.push((value.cast_unsigned(), end - data.data.len()..end));
        }
    }
    Ok(found)
}

/// Which of the module's own functions never return.
fn never_returning(module: &[u8]) -> Result<BTreeSet<u32>> {
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

/// Whether a function with this name never returns. The compiler puts numbers into names of libraries:
/// `core[0123456789abcdef]::panicking::panic_fmt`.
fn never_returns(name: &str) -> bool {
    let mut plain = String::new();
    for part in name.split(']') {
        plain += part.split_once('[').map_or(part, |(before, _)| before);
    }
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
    fn places_and_messages_of_panics_are_blank() {
        // Memory from 8 on: a number, a place, its file, a message, and what looks like a place and has no such name.
        let place = |name: u32| [name, 8, 7, 30].map(u32::to_le_bytes).concat();
        let data = [&[1, 2, 3, 4], &place(28)[..], b"src/a.rs", b"range end index 9", &[0; 3], &place(45)[..]].concat();
        let memory = [b"\x01\0\x41\x08\x0b", &[data.len() as u8][..], &data].concat();
        let before = [b"\0asm\x01\0\0\0\x05\x03\x01\0\x01\x0b".as_slice(), &[memory.len() as u8], &memory].concat();
        let mut after = before.clone();
        blank(&mut after).unwrap();
        let expected = [&[1, 2, 3, 4], &[0; 40][..], b"9", &[0; 3], &place(45)[..]].concat();
        assert_eq!(after, [&before[..before.len() - data.len()], &expected].concat());
        let error = blank(&mut after).unwrap_err().to_string();
        assert!(error.contains("no places of panics"), "{error}");
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
