//! How many messages and tokens a blob has, for records that do not say.

use crate::commits::formats::{BlobSource, Concatenator, Format};
use crate::limits::Limits;

/// What a blob counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlobCounts {
    pub(crate) messages: u64,
    pub(crate) tokens: u64,
}

/// Counts a blob. One that cannot be read has no messages.
pub(crate) fn of(format: Format, blob: &[u8]) -> BlobCounts {
    let lines = || blob.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
    let messages = match format {
        Format::BureauAgentV1 => {
            let mut items = Concatenator::new(format, &Limits::default(), 0);
            let read = items.push(blob, BlobSource::default()).and_then(|()| items.finish());
            read.ok().and_then(|read| read.counts.messages).map_or(0, u64::from)
        }
        _ => lines() as u64,
    };
    BlobCounts { messages, tokens: (blob.len() as u64).div_ceil(4) }
}
