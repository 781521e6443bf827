//! The `loomAware` of a request.

use super::{Addendum, LoomAware, Pinned, Stash};
use crate::error::{Diagnostic, Result};
use crate::json::{Kind, Value};
use crate::time::Timestamp;

const FIELDS: &[&str] =
    &["now", "addendum", "headers", "loomBlock", "pinned", "stashes", "trace", "permissions", "authors"];

/// Reads `true`, `false`, or the additions. `permissions` are those of the agent's entity, the default of the request's.
pub(crate) fn read(
    value: Value<'_>,
    permissions: Option<Value<'_>>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<LoomAware>> {
    let permissions = || -> Result<_> { Ok(permissions.map(granted).transpose()?.flatten()) };
    if value.kind() == Kind::Bool {
        let on = value.bool()?;
        return if on { Ok(Some(LoomAware { permissions: permissions()?, ..LoomAware::default() })) } else { Ok(None) };
    }
    let fields = value.object("a boolean or an object")?;
    fields.report_unknown(FIELDS, diagnostics);
    let mut aware = LoomAware {
        now: fields.read("now", Timestamp::read)?,
        addendum: fields.read("addendum", addendum)?.unwrap_or_default(),
        headers: fields.bool("headers")?.unwrap_or(true),
        loom_block: fields.bool("loomBlock")?.unwrap_or(true),
        trace: fields.read("trace", Value::strings)?.unwrap_or_default(),
        permissions: match fields.read("permissions", Value::strings)? {
            None => permissions()?,
            given => given,
        },
        ..LoomAware::default()
    };
    if let Some(list) = fields.get("pinned")? {
        aware.pinned = list.list("a list of pinned nodes and texts")?.read(pinned)?;
    }
    if let Some(list) = fields.get("stashes")? {
        aware.stashes = list.list("a list of stashes")?.read(stash)?;
    }
    if let Some(authors) = fields.get("authors")? {
        aware.authors = authors.object("an object of names by the ids of agents")?.map(Value::string)?;
    }
    Ok(Some(aware))
}

fn addendum(value: Value<'_>) -> Result<Addendum> {
    match (value.as_text(), value.kind()) {
        (Some(text), _) => Ok(Addendum::Custom(text.into_owned())),
        (None, Kind::Bool) if value.bool()? => Ok(Addendum::BuiltIn),
        (None, Kind::Bool) => Ok(Addendum::None),
        _ => Err(value.mismatch("a boolean or a text")),
    }
}

fn pinned(value: Value<'_>) -> Result<Pinned> {
    let fields = value.object("an object with `nodeId` or `text`")?;
    match (fields.string("nodeId")?, fields.string("label")?, fields.string("text")?) {
        (Some(id), None, None) => Ok(Pinned::Node(id)),
        (None, label, Some(text)) => Ok(Pinned::Text { label, text }),
        _ => Err(value.mismatch("`{ nodeId }` or `{ label?, text }`")),
    }
}

fn stash(value: Value<'_>) -> Result<Stash> {
    let fields = value.object("a stash, an object with `label` and `text`")?;
    Ok(Stash { label: fields.need("label")?.string()?, text: fields.need("text")?.string()? })
}

/// The permissions of an agent: the true ones of `{ read: true, write: false }`, or a list.
fn granted(permissions: Value<'_>) -> Result<Option<Vec<String>>> {
    match permissions.kind() {
        Kind::Object => {
            let entries = permissions.object("permissions")?.entries();
            let granted = entries.filter(|(_, may)| may.kind() == Kind::Bool && may.raw() == "true");
            granted.map(|(name, _)| name.string()).collect::<Result<_>>().map(Some)
        }
        Kind::List => {
            let names = permissions.list("permissions")?.filter_map(Value::as_text);
            Ok(Some(names.map(|name| name.into_owned()).collect()))
        }
        _ => Ok(None),
    }
}
