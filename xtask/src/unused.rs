//! What nothing in a module refers to, though the linker kept it.
//!
//! The linker keeps all that a panic would say: places in the source, messages, how values are printed. In the module a panic
//! says nothing (see `panics`), so what only a panic refers to is emptied: data become zeros, of which compression leaves
//! next to nothing, and the table does not list such functions any more, so that wasm-opt leaves them out. What refers to what is
//! in the relocations that the linker writes with `--emit-relocs`; they are left out of what comes out of here.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use anyhow::{Context, Result, ensure};
use wasmparser::{
    ElementItems, ExternalKind, KnownCustom, Linking, Name, Operator, Parser, Payload, RelocationType, SymbolInfo,
    TypeRef,
};

use crate::order::number;
use crate::panics::{self, plain_name};

/// A function of the module or an object among its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Function(u32),
    /// By its number in [`Linked::objects`].
    Object(usize),
}

/// A place that the linker filled in.
struct Reference {
    /// In the module.
    at: usize,
    to: Item,
    /// Whether it is the place of a function in the table.
    listed: bool,
    addend: i64,
}

/// What of a module matters here. Ranges and places are those of its bytes.
#[derive(Default)]
struct Linked {
    imported: u32,
    bodies: Vec<Range<usize>>,
    calls: Vec<(u32, u32)>,
    exported: Vec<u32>,
    names: BTreeMap<u32, String>,
    /// Where the table lists which function.
    entries: Vec<(usize, u32)>,
    /// The data, in order and apart from each other.
    objects: Vec<Range<usize>>,
    references: Vec<Reference>,
}

/// The module without relocations, and with what nobody refers to emptied.
pub fn empty(module: &[u8]) -> Result<Vec<u8>> {
    let linked = Linked::read(module)?;
    let (used, listed) = linked.used(module, &panics::never_returning(module)?)?;
    let mut out = module.to_vec();
    for (object, range) in linked.objects.iter().enumerate() {
        if !used.contains(&Item::Object(object)) {
            out.get_mut(range.clone()).context("an object is nowhere")?.fill(0);
        }
    }
    for (at, function) in &linked.entries {
        if !listed.contains(function) {
            first_import(&mut out, *at)?;
        }
    }
    without_relocations(&out)
}

/// Puts the first import in the place of a function in the table: a zero in as many bytes as there are.
pub fn first_import(module: &mut [u8], at: usize) -> Result<()> {
    for byte in module.get_mut(at..).context("the table ends early")? {
        *byte &= 0x80;
        if *byte == 0 {
            break;
        }
    }
    Ok(())
}

impl Linked {
    fn read(module: &[u8]) -> Result<Self> {
        let mut this = Self::default();
        let mut sections = Vec::new();
        let mut segments = Vec::new();
        let mut symbols = Vec::new();
        let mut relocations = Vec::new();
        for payload in Parser::new(0).parse_all(module) {
            let payload = payload.context("the module is damaged")?;
            if let Some((_, range)) = payload.as_section() {
                sections.push(range.start as usize);
            }
            match payload {
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        this.imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                    }
                }
                Payload::ExportSection(section) => {
                    for export in section {
                        let export = export?;
                        if export.kind == ExternalKind::Func {
                            this.exported.push(export.index);
                        }
                    }
                }
                Payload::StartSection { func, .. } => this.exported.push(func),
                Payload::ElementSection(section) => {
                    for element in section {
                        let ElementItems::Functions(functions) = element?.items else { continue };
                        for entry in functions.into_iter_with_offsets() {
                            let (at, function) = entry?;
                            this.entries.push((at as usize, function));
                        }
                    }
                }
                Payload::CodeSectionEntry(body) => {
                    let function = this.imported + u32::try_from(this.bodies.len())?;
                    for operator in body.get_operators_reader()? {
                        if let Operator::Call { function_index } = operator? {
                            this.calls.push((function, function_index));
                        }
                    }
                    let range = body.range();
                    this.bodies.push(range.start as usize..range.end as usize);
                }
                Payload::DataSection(section) => {
                    for segment in section {
                        let segment = segment?;
                        segments.push(segment.range.end as usize - segment.data.len());
                    }
                }
                Payload::CustomSection(section) => match section.as_known() {
                    KnownCustom::Linking(linking) => {
                        for part in linking.subsections() {
                            let Linking::SymbolTable(table) = part? else { continue };
                            for symbol in table {
                                symbols.push(symbol?);
                            }
                        }
                    }
                    KnownCustom::Reloc(relocs) => {
                        for entry in relocs.entries() {
                            relocations.push((relocs.section_index() as usize, entry?));
                        }
                    }
                    KnownCustom::Name(names) => {
                        for name in names {
                            let Name::Function(functions) = name? else { continue };
                            for naming in functions {
                                let naming = naming?;
                                this.names.insert(naming.index, plain_name(naming.name));
                            }
                        }
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        ensure!(!relocations.is_empty(), "the module has no relocations: the linker has to be told `--emit-relocs`");
        let data = |symbol: &SymbolInfo<'_>| {
            let SymbolInfo::Data { symbol: Some(data), .. } = symbol else { return None };
            let start = segments.get(data.index as usize)? + data.offset as usize;
            Some(start..start + data.size as usize).filter(|range| !range.is_empty())
        };
        // Several names may stand for one object, or for parts of it.
        let mut ranges: Vec<_> = symbols.iter().filter_map(data).collect();
        ranges.sort_by_key(|range| range.start);
        for range in ranges {
            match this.objects.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => this.objects.push(range),
            }
        }
        for (section, entry) in relocations {
            use RelocationType::{FunctionIndexLeb, TableIndexI32, TableIndexSleb};
            let symbol = symbols.get(entry.index as usize);
            let to = match symbol {
                _ if entry.ty == RelocationType::TypeIndexLeb => continue,
                Some(SymbolInfo::Func { index, .. }) => Item::Function(*index),
                Some(symbol) => match data(symbol).and_then(|range| this.object_at(range.start)) {
                    Some(object) => Item::Object(object),
                    None => continue,
                },
                None => continue,
            };
            if entry.ty == FunctionIndexLeb {
                continue;
            }
            let at = sections.get(section).context("a relocation is in no section")? + entry.offset as usize;
            let listed = matches!(entry.ty, TableIndexI32 | TableIndexSleb);
            this.references.push(Reference { at, to, listed, addend: entry.addend });
        }
        this.references.sort_by_key(|reference| reference.at);
        Ok(this)
    }

    /// The object with the byte at this place.
    fn object_at(&self, at: usize) -> Option<usize> {
        let object = self.objects.partition_point(|range| range.end <= at);
        self.objects.get(object).filter(|range| range.contains(&at)).map(|_| object)
    }

    /// The references in a range.
    fn in_range(&self, range: &Range<usize>) -> &[Reference] {
        let start = self.references.partition_point(|reference| reference.at < range.start);
        let end = self.references.partition_point(|reference| reference.at < range.end);
        self.references.get(start..end).unwrap_or_default()
    }

    /// Everything that the module's exports come to, and which functions have to be in the table for that.
    fn used(&self, module: &[u8], never: &BTreeSet<u32>) -> Result<(BTreeSet<Item>, BTreeSet<u32>)> {
        let mut listed = BTreeSet::new();
        let mut calls: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &(from, to) in &self.calls {
            calls.entry(from).or_default().push(to);
        }
        // What there is, each with whether a function that prints a value as `{:?}` comes to it.
        let mut known = BTreeSet::new();
        let mut open: Vec<(Item, bool)> =
            self.exported.iter().map(|&function| (Item::Function(function), false)).collect();
        while let Some((item, by_print)) = open.pop() {
            let prints = by_print || matches!(item, Item::Function(function) if self.prints(function));
            if !known.insert((item, prints)) {
                continue;
            }
            let range = match item {
                Item::Object(object) => self.objects.get(object),
                Item::Function(function) => {
                    let Some(own) = function.checked_sub(self.imported) else { continue };
                    if never.contains(&own) {
                        continue;
                    }
                    let called = calls.get(&function).into_iter().flatten();
                    open.extend(called.map(|&called| (Item::Function(called), prints)));
                    self.bodies.get(own as usize)
                }
            };
            for reference in self.in_range(range.context("an item is nowhere")?) {
                match reference.to {
                    Item::Object(object) if self.is_location(module, object) => continue,
                    // Many a list of methods has the one that prints the value; but for panics, only those call it that print themselves.
                    Item::Function(function) if matches!(item, Item::Object(_)) && !prints && self.prints(function) => {
                        continue;
                    }
                    Item::Function(function) if reference.listed => _ = listed.insert(function),
                    _ => {}
                }
                open.push((reference.to, prints));
            }
        }
        Ok((known.into_iter().map(|(item, _)| item).collect(), listed))
    }

    /// Whether a function prints a value as `{:?}`.
    fn prints(&self, function: u32) -> bool {
        self.names.get(&function).is_some_and(|name| name.contains("core::fmt::Debug>::fmt"))
    }

    /// Whether an object is a place in the source, which nobody but a panic wants to know: a text that ends in `.rs`, its length, a
    /// line and a column.
    fn is_location(&self, module: &[u8], object: usize) -> bool {
        let Some(range) = self.objects.get(object).filter(|range| range.len() == 16) else { return false };
        let [Reference { at, to: Item::Object(file), addend, .. }] = self.in_range(range) else { return false };
        let length = module.get(range.start + 4..range.start + 8).and_then(|bytes| bytes.try_into().ok());
        let text = || {
            let length = u32::from_le_bytes(length?) as usize;
            let start = self.objects.get(*file)?.start + usize::try_from(*addend).ok()?;
            module.get(start..start + length)
        };
        *at == range.start && text().is_some_and(|text| text.ends_with(b".rs"))
    }
}

/// The module without the custom sections of the linker: what they say of places is not so any more.
fn without_relocations(module: &[u8]) -> Result<Vec<u8>> {
    let mut out = module.get(..8).context("the module is damaged")?.to_vec();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        if let Payload::CustomSection(section) = &payload
            && (section.name() == "linking" || section.name().starts_with("reloc."))
        {
            continue;
        }
        if let Some((id, range)) = payload.as_section() {
            out.push(id);
            number(&mut out, range.end as usize - range.start as usize);
            out.extend(module.get(range.start as usize..range.end as usize).context("a section ends early")?);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number in five bytes, as the linker writes what it fills in.
    fn filled(number: u8) -> [u8; 5] {
        [number | 0x80, 0x80, 0x80, 0x80, 0]
    }

    fn section(id: u8, content: &[&[u8]]) -> Vec<u8> {
        let content = content.concat();
        let mut section = vec![id];
        number(&mut section, content.len());
        section.extend(content);
        section
    }

    fn text(text: &str) -> Vec<u8> {
        [&[text.len() as u8], text.as_bytes()].concat()
    }

    /// `i32.const`, `drop`.
    fn constant(number: u8) -> Vec<u8> {
        [&[0x41], &filled(number)[..], &[0x1a]].concat()
    }

    #[test]
    fn what_only_a_panic_refers_to_is_emptied() {
        // `used` refers to the object at 0, calls what panics, and gives it the location at 8. Only what panics refers to the object at 4.
        // The objects at 0 and 4 are places of functions in the table.
        let used = [&[0], &constant(0)[..], &constant(8), &[0x10], &filled(1), &[0x0b]].concat();
        let panics = [&[0], &constant(4)[..], &[0x0b]].concat();
        let other: &[u8] = &[0, 0x0b];
        let body = |code: &[u8]| [&[code.len() as u8], code].concat();
        let code = section(10, &[&[4], &body(&used), &body(&panics), &body(other), &body(other)]);
        let data =
            [&[1, 0, 0, 0, 2, 0, 0, 0][..], &[24, 0, 0, 0, 4, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0], b"a.rs"].concat();
        let symbols: [(u8, &str, &[u8]); 7] = [
            (0, "used", &[0]),
            (0, "panics", &[1]),
            (0, "listed", &[2]),
            (0, "idle", &[3]),
            (1, "object", &[0, 0, 4]),
            (1, "other", &[0, 4, 4]),
            (1, "location", &[0, 8, 16]),
        ];
        let symbol = |(kind, name, place): &(u8, &str, &[u8])| match kind {
            0 => [&[0, 0], *place, &text(name)].concat(),
            _ => [&[1, 0], &text(name)[..], place].concat(),
        };
        let mut table: Vec<u8> = symbols.iter().flat_map(symbol).collect();
        table.extend([&[1, 0], &text("file")[..], &[0, 24, 4]].concat());
        let table = [&[symbols.len() as u8 + 1], &table[..]].concat();
        let names = [
            &[4, 0],
            &text("used")[..],
            &[1],
            &text("core::panicking::panic"),
            &[2],
            &text("listed"),
            &[3],
            &text("idle"),
        ];
        let names = names.concat();
        let before = [
            b"\0asm\x01\0\0\0".to_vec(),
            section(1, &[b"\x01\x60\0\0"]),
            section(3, &[b"\x04\0\0\0\0"]),
            section(4, &[b"\x01\x70\0\x03"]),
            section(5, &[b"\x01\0\x01"]),
            section(7, &[&[1], &text("used"), &[0, 0]]),
            section(9, &[b"\x01\0\x41\x01\x0b\x02", b"\x02", b"\x83\0"]),
        ]
        .concat();
        let data_section = |data: &[u8]| section(11, &[&[1, 0, 0x41, 0, 0x0b, data.len() as u8], data]);
        let named = section(0, &[&text("name"), &[1, names.len() as u8], &names]);
        let module = [
            before.clone(),
            code.clone(),
            data_section(&data),
            section(0, &[&text("linking"), &[2, 8, table.len() as u8], &table]),
            // The sixth section: constants behind the first byte of their instructions, and the call between them.
            section(0, &[&text("reloc.CODE"), &[6, 4], &[4, 4, 4, 0], &[4, 11, 6, 0], &[0, 18, 1], &[4, 27, 5, 0]]),
            section(0, &[&text("reloc.DATA"), &[7, 3], &[2, 6, 2], &[2, 10, 3], &[5, 14, 7, 0]]),
            named.clone(),
        ]
        .concat();
        let emptied = empty(&module).unwrap();
        // The table has the first function, of one byte more, in the place of the one that nobody calls.
        let mut expected = before;
        *expected.iter_mut().rev().nth(1).unwrap() = 0x80;
        expected.extend(code);
        expected.extend(data_section(&[&[1][..], &[0; 27]].concat()));
        expected.extend(named);
        assert_eq!(emptied, expected);
        assert!(empty(&expected).unwrap_err().to_string().contains("--emit-relocs"));
    }
}
