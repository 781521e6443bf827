//! Results as JSON text.

use crate::error::{Code, Error, Result};

/// Writes a result as JSON text.
pub(crate) fn write(result: &impl serde::Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(result).map_err(|_| Error::new(Code::InternalError, "the result cannot be written as JSON"))
}
