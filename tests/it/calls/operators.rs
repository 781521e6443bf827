//! Operators: XML task templates, assembly, runs.

use ctxweave::Error;
use ctxweave::operators::wire::{
    begin_json, explain_task_json, finish_json, next_request_json, parse_task_json, record_result_json,
    reduce_failure_json, sequential_failure_json, start_run_json, write_task_json,
};
use serde_json::Value;

pub(super) fn call(name: &str, args: &[Value], _steps: Option<&[Value]>) -> Option<Result<Value, Error>> {
    let arg = |at: usize| serde_json::to_vec(args.get(at).unwrap_or(&Value::Null)).unwrap();
    let result = match name {
        "parseTask" => {
            let xml = args[0].as_str().map_or_else(|| super::bytes(&args[0]), |xml| xml.as_bytes().to_vec());
            parse_task_json(&xml, &arg(1))
        }
        "writeTask" => write_task_json(&arg(0)),
        "explainTask" => explain_task_json(&arg(0)),
        "beginContextAssembly" => begin_json(&arg(0), &Default::default()),
        "finishContextAssembly" => finish_json(&arg(0), &arg(1), &Default::default()),
        "sequentialFailure" => sequential_failure_json(&arg(0)),
        "reduceFailure" => reduce_failure_json(&arg(0)),
        "startRun" => start_run_json(&arg(0)),
        "nextRequest" => next_request_json(&arg(0)),
        "recordResult" => record_result_json(&arg(0), &arg(1)),
        _ => return None,
    };
    Some(result.map(|result| serde_json::from_slice(&result).unwrap()))
}
