//! Joins CBOR arrays: the items of each are spliced verbatim under one definite-length header; `80` if there are none. A
//! null counts as an empty array (docs/session-formats.md).

use minicbor::Decoder;
use minicbor::data::Type;

use super::cbor::{self, Damage};
use super::format::BlobSource;
use crate::error::Result;
use crate::limits;

/// Bytes of the longest header of an array.
const MAX_HEADER_BYTES: usize = 9;

/// Reserves space for a header before the items.
pub(super) fn with_header(capacity: usize) -> Vec<u8> {
    let mut array = Vec::with_capacity(capacity.saturating_add(MAX_HEADER_BYTES));
    array.resize(MAX_HEADER_BYTES, 0);
    array
}

/// Appends the items of a delta; returns their number.
pub(super) fn splice(
    out: &mut Vec<u8>,
    blob: &[u8],
    format: &str,
    max_depth: u32,
    source: BlobSource<'_>,
) -> Result<u64> {
    let (items, count) = items(blob, format, max_depth, source)?;
    out.extend_from_slice(items);
    Ok(count)
}

/// The items of a blob that consists of exactly one array, and their number.
pub(super) fn items<'b>(
    blob: &'b [u8],
    format: &str,
    max_depth: u32,
    source: BlobSource<'_>,
) -> Result<(&'b [u8], u64)> {
    let invalid = |reason: &str| Err(source.invalid(format, reason));
    let mut decoder = Decoder::new(blob);
    let declared = match decoder.datatype() {
        Ok(Type::Null) => {
            return if blob.len() == 1 { Ok((&[], 0)) } else { invalid("bytes follow its end; store only the array") };
        }
        Ok(Type::Array | Type::ArrayIndef) => match decoder.array() {
            Ok(declared) => declared,
            Err(_) => return invalid("its length stops in the middle"),
        },
        Ok(_) => return invalid("it is not an array"),
        Err(_) => return invalid("it holds no bytes; an empty array is `80`"),
    };
    let start = decoder.position();
    if declared.is_some_and(|count| count > blob.len().saturating_sub(start) as u64) {
        return invalid("it declares more items than there are bytes");
    }
    let mut count: u64 = 0;
    let mut end = start;
    while declared != Some(count) {
        if declared.is_none() && blob.get(end) == Some(&0xff) {
            end = end.saturating_add(1);
            break;
        }
        match cbor::skip(&mut decoder, max_depth) {
            Ok(()) => {}
            Err(Damage::TooDeep) => {
                let depth = (max_depth as usize).saturating_add(1);
                return Err(source.about(limits::exceeded("cborDepth", depth, max_depth)));
            }
            Err(Damage::Malformed(what, at)) => return invalid(&format!("{what} (byte {at})")),
        }
        count = count.saturating_add(1);
        end = decoder.position();
    }
    if end != blob.len() {
        return invalid("bytes follow its end; store only the array");
    }
    let end = if declared.is_none() { end.saturating_sub(1) } else { end };
    Ok((blob.get(start..end).unwrap_or_default(), count))
}

/// Writes the header before the items, which begin at [`MAX_HEADER_BYTES`], and removes the unused space.
pub(super) fn write_header(out: &mut Vec<u8>, count: u64) {
    let mut header = Vec::with_capacity(MAX_HEADER_BYTES);
    // Writing to a vector cannot fail.
    let _ = minicbor::Encoder::new(&mut header).array(count);
    let unused = MAX_HEADER_BYTES.saturating_sub(header.len());
    if let Some(place) = out.get_mut(unused..MAX_HEADER_BYTES) {
        place.copy_from_slice(&header);
    }
    out.drain(..unused);
}
