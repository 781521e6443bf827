//! The zone of times without one.

use crate::error::{Code, Error, Result};
use crate::time::Timestamp;

/// `Z`, or an offset such as `+02:00`.
#[derive(Debug)]
pub(super) struct Zone(pub String);

impl Zone {
    pub(super) fn new(offset: Option<&str>) -> Result<Self> {
        let offset = offset.unwrap_or("Z");
        if Timestamp::parse(&format!("2000-01-01T00:00:00{offset}")).is_none() {
            let message = format!("`utcOffset` is `{offset}`; it must be `Z` or an offset such as `+02:00`");
            return Err(Error::new(Code::InvalidInput, message).with("path", "options.utcOffset"));
        }
        Ok(Self(offset.to_owned()))
    }
}
