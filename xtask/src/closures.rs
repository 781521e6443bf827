//! What nobody can call, though the table has it.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use wasmparser::{ElementItems, ExternalKind, KnownCustom, Name, Parser, Payload};

use crate::unused::first_import;

/// Functions by which JavaScript would call closures, and what js-sys has for promises: the table lists them for functions of
/// js-sys that nothing here uses. JavaScript cannot reach the table, and no closure ever leaves the module.
const IDLE: [&str; 2] = ["wasm_bindgen::convert::closures::_::invoke", "js_sys::futures::"];

/// Puts the module's first import in the place of each of those in the table, so that wasm-opt can leave them out.
pub fn unlist(module: &mut [u8]) -> Result<()> {
    let mut idle = BTreeSet::new();
    let mut entries = Vec::new();
    for payload in Parser::new(0).parse_all(module) {
        match payload.context("the module is damaged")? {
            Payload::ExportSection(section) => {
                for export in section {
                    ensure!(export?.kind != ExternalKind::Table, "the module exports its table: keep what is in it");
                }
            }
            Payload::ElementSection(section) => {
                for element in section {
                    let ElementItems::Functions(functions) = element?.items else { continue };
                    for entry in functions.into_iter_with_offsets() {
                        entries.push(entry?);
                    }
                }
            }
            Payload::CustomSection(section) => {
                let KnownCustom::Name(names) = section.as_known() else { continue };
                for name in names {
                    let Name::Function(functions) = name? else { continue };
                    for naming in functions {
                        let naming = naming?;
                        if IDLE.iter().any(|idle| naming.name.starts_with(idle)) {
                            idle.insert(naming.index);
                        }
                    }
                }
            }
            _ => {}
        }
    }
    for (at, function) in entries {
        if idle.contains(&function) {
            first_import(module, usize::try_from(at)?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_can_call_is_not_listed() {
        // Two functions of type `() -> ()`, a table that lists both, the second one in two bytes, and the second one's name.
        let name = format!("{}::h0", IDLE[0]);
        let mut module = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x03\x02\0\0\x04\x04\x01\x70\0\x02".to_vec();
        module.extend(b"\x09\x09\x01\0\x41\0\x0b\x02\0\x81\0\x0a\x07\x02\x02\0\x0b\x02\0\x0b");
        let names = [&[1, name.len() as u8 + 3, 1, 1, name.len() as u8], name.as_bytes()].concat();
        module.extend([&[0, names.len() as u8 + 5, 4], b"name".as_slice(), &names].concat());
        let mut changed = module.clone();
        unlist(&mut changed).unwrap();
        let places: Vec<_> = (0..module.len()).filter(|&at| module[at] != changed[at]).collect();
        assert_eq!(places.len(), 1);
        assert_eq!((module[places[0]], changed[places[0]]), (0x81, 0x80));
    }
}
