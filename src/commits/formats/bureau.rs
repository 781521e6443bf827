//! `bureau-agent-v1`: a CBOR array of messages (SPEC §5).
//!
//! Joining splices the items of each array verbatim under one header of definite length; `80` when there are none. A
//! null stands for an empty array.

use minicbor::Decoder;
use minicbor::data::Type;

use super::cbor::{self, Damage};
use super::{BlobSource, Format};
use crate::error::Result;
use crate::limits;

/// The longest header that an array can have.
const HEADER: usize = 9;

/// Room for a header and the items after it.
pub(super) fn room(capacity: usize) -> Vec<u8> {
    let mut room = Vec::with_capacity(capacity.saturating_add(HEADER));
    room.resize(HEADER, 0);
    room
}

/// Appends the items of a delta; gives their number.
pub(super) fn splice(out: &mut Vec<u8>, blob: &[u8], max_depth: u32, source: BlobSource<'_>) -> Result<u64> {
    let items = items(blob, max_depth, source)?;
    out.extend_from_slice(blob.get(items.start..items.end).unwrap_or_default());
    Ok(items.count)
}

/// Where the items of an array are.
#[derive(Debug)]
struct Items {
    start: usize,
    end: usize,
    count: u64,
}

/// Checks that the blob is one array and nothing else.
fn items(blob: &[u8], max_depth: u32, source: BlobSource<'_>) -> Result<Items> {
    let invalid = |reason: &str| Err(source.invalid(Format::BureauAgentV1, reason));
    let mut decoder = Decoder::new(blob);
    let declared = match decoder.datatype() {
        Ok(Type::Null) => {
            return if blob.len() == 1 {
                Ok(Items { start: 1, end: 1, count: 0 })
            } else {
                invalid("bytes follow after its end; store the array alone")
            };
        }
        Ok(Type::Array | Type::ArrayIndef) => match decoder.array() {
            Ok(declared) => declared,
            Err(_) => return invalid("its length stops in the middle"),
        },
        Ok(_) => return invalid("it is not an array of messages"),
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
                let error = limits::exceeded("cborDepth", depth, max_depth);
                return Err(error.with("commit", source.commit).with("artifactRef", source.artifact_ref));
            }
            Err(Damage::Malformed(what, at)) => return invalid(&format!("{what} (byte {at})")),
        }
        count = count.saturating_add(1);
        end = decoder.position();
    }
    if end != blob.len() {
        return invalid("bytes follow after its end; store the array alone");
    }
    let end = if declared.is_none() { end.saturating_sub(1) } else { end };
    Ok(Items { start, end, count })
}

/// Puts the header before the items, which begin at [`HEADER`], and takes what room it did not need.
pub(super) fn write_header(out: &mut Vec<u8>, count: u64) {
    let mut header = Vec::with_capacity(HEADER);
    // Writing to a vector cannot fail.
    let _ = minicbor::Encoder::new(&mut header).array(count);
    let unused = HEADER.saturating_sub(header.len());
    if let Some(place) = out.get_mut(unused..HEADER) {
        place.copy_from_slice(&header);
    }
    out.drain(..unused);
}
