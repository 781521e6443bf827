//! Folders with AGENTS.md files.

use ctxweave::Error;
use ctxweave::folders::wire::call_json;
use serde_json::Value;

use super::revived;

pub(super) fn call(name: &str, args: &[Value], _steps: Option<&[Value]>) -> Option<Result<Value, Error>> {
    let args: Vec<Vec<u8>> = args.iter().map(|arg| serde_json::to_vec(&revived(arg)).unwrap()).collect();
    let result = call_json(name, &args, &Default::default())?;
    Some(result.map(|result| serde_json::from_slice(&result).unwrap()))
}
