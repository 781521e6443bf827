//! JSON: read once into a tape over its bytes and accessed through a cursor that knows its path; values are written by
//! serde, streams by `JsonWriter`.

mod escape;
mod limits;
mod number;
mod size;
mod special;
mod tape;
mod value;
mod write;
mod writer;

pub use escape::escape_into;
pub(crate) use number::float;
pub(crate) use number::number;
pub(crate) use tape::Kind;
pub(crate) use value::BYTES_SIZE;
pub(crate) use value::bytes_reference;
pub(crate) use value::lone_surrogates;
pub(crate) use value::{
    Document, List, Object, Value, is_field_of_results, quoted, refuse_unknown, unescape, unknown_value,
};
pub(crate) use write::append;
pub(crate) use write::object;
pub(crate) use write::{text, write};
pub(crate) use writer::{JsonWriter, TextWriter, WriteText, append_compact};
