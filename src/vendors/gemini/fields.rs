//! Calls and signatures of parts. REST also accepts snake case.

use std::borrow::Cow;

use crate::error::Result;
use crate::json::{Object, Value};
use crate::vendors::fields::text_in;

/// The call in a part.
pub(crate) fn called<'t>(part: Object<'t>) -> Result<Option<Value<'t>>> {
    let [camel, snake] = part.fields(["functionCall", "function_call"])?;
    Ok(camel.or(snake))
}

/// The signature of a part.
pub(crate) fn signature<'t>(part: Object<'t>) -> Option<Cow<'t, str>> {
    text_in(part, "thoughtSignature").or_else(|| text_in(part, "thought_signature"))
}
