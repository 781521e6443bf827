//! The limits that a request sets.

use super::value::Value;
use crate::error::{Diagnostic, Result};
use crate::limits::{JSON_DEPTH_MAX, Limits, NAMES, XML_DEPTH_MAX};

impl Limits {
    /// The effective limits of a request with these `limits`; unknown names are reported.
    pub(crate) fn read(limits: Option<Value<'_>>, diagnostics: &mut Vec<Diagnostic>) -> Result<Self> {
        let mut read = Self::default();
        let Some(limits) = limits else { return Ok(read) };
        let limits = limits.object("limits, an object")?;
        limits.report_unknown(NAMES, diagnostics);
        for name in NAMES {
            if let (Some(value), Some(limit)) = (limits.get(name)?, read.named(name)) {
                *limit = value.whole(u32::MAX)?;
            }
        }
        read.json_depth = read.json_depth.min(JSON_DEPTH_MAX);
        read.xml_depth = read.xml_depth.min(XML_DEPTH_MAX);
        Ok(read)
    }
}
