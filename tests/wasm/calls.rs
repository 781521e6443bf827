//! The calls of the areas' tables, as the npm package makes them: JSON text, with separate bytes.

use ctxweave::call::Call;
use js_sys::{Array, JSON, Object, Reflect, Uint8Array};
use serde_json::Value as Json;
use wasm_bindgen::{JsCast, JsValue};

/// Makes a call; nothing when no table has the name.
pub(crate) fn call(name: &str, args: &Array) -> Option<Result<JsValue, JsValue>> {
    let call = ctxweave::CALLS.iter().copied().flatten().find(|call| call.name == name)?;
    let (json, bytes) = match args.get(0).dyn_into::<Uint8Array>() {
        // The request is bytes of JSON.
        Ok(json) if name.starts_with("requestBody") => (json.to_vec(), JsValue::UNDEFINED),
        _ => {
            let (json, bytes) = request(call, args);
            (json.into_bytes(), bytes)
        }
    };
    let answer = ctxweave::wasm::call::call(name, &json, &bytes, &JsValue::UNDEFINED).map(|answer| result(&answer));
    let answer = answer.map(|answer| with_blobs(answer, &bytes));
    Some(answer.map(|answer| match name {
        "fitMessages" => of_chat(&args.get(0), &answer, &|chat, answer| crate::chat::fitted(chat, &answer)),
        "convertMessages" => of_chat(&args.get(0), &answer, &crate::chat::converted),
        "truncateText" => written(&crate::tokenizer::truncated(&read_all(args), &read(&answer))),
        "splitText" => {
            written(&crate::tokenizer::pieces(&read_all(args), &answer.unchecked_into::<Uint8Array>().to_vec()))
        }
        _ => answer,
    }))
}

/// What the npm package makes of the answer about a chat.
fn of_chat(chat: &JsValue, answer: &JsValue, make: &dyn Fn(&Json, Json) -> Json) -> JsValue {
    written(&make(&read(chat), read(answer)))
}

fn read(value: &JsValue) -> Json {
    let json = String::from(JSON::stringify(value).unwrap());
    serde_json::from_str(&json).unwrap()
}

fn read_all(args: &Array) -> Vec<Json> {
    args.iter().map(|arg| read(&arg)).collect()
}

fn written(value: &Json) -> JsValue {
    JSON::parse(&value.to_string()).unwrap()
}

/// The request of a call with these arguments, and its separate bytes.
pub(crate) fn request<T>(call: &Call<T>, args: &Array) -> (String, JsValue) {
    let bytes = Array::new();
    let request = match call.parameters {
        [] => with_separate_bytes(&args.get(0), &bytes),
        names => {
            let request = Object::new();
            for (at, name) in (0..).zip(names) {
                Reflect::set(&request, &(*name).into(), &with_separate_bytes(&args.get(at), &bytes)).unwrap();
            }
            request.into()
        }
    };
    let json = JSON::stringify(&request).ok().and_then(|json| json.as_string());
    (json.unwrap_or_else(|| "null".to_owned()), bytes.into())
}

fn with_separate_bytes(value: &JsValue, separate: &Array) -> JsValue {
    if value.has_type::<Uint8Array>() {
        let copy = Object::new();
        Reflect::set(&copy, &"\0bytes".into(), &(separate.push(value) - 1).into()).unwrap();
        return copy.into();
    }
    if Array::is_array(value) {
        return value
            .unchecked_ref::<Array>()
            .iter()
            .map(|item| with_separate_bytes(&item, separate))
            .collect::<Array>()
            .into();
    }
    let Some(object) = value.dyn_ref::<Object>() else { return value.clone() };
    let copy = Object::new();
    Object::keys(object).iter().for_each(|key| {
        let value = with_separate_bytes(&Reflect::get(value, &key).unwrap(), separate);
        Reflect::set(&copy, &key, &value).unwrap();
    });
    copy.into()
}

/// The result of a call: JSON text, bytes alone, or JSON text with the bytes that it refers to.
pub(crate) fn result(answer: &JsValue) -> JsValue {
    if let Some(json) = answer.as_string() {
        return JSON::parse(&json).unwrap();
    }
    let Some(parts) = answer.dyn_ref::<Array>() else { return answer.clone() };
    with_bytes_in_place(JSON::parse(&parts.get(0).as_string().unwrap()).unwrap(), parts)
}

/// The result of an import, with the blobs that the npm package makes of their places in the bytes that were given.
fn with_blobs(result: JsValue, given: &JsValue) -> JsValue {
    let list = |name: &str| Reflect::get(&result, &name.into()).ok()?.dyn_into::<Array>().ok();
    let (Some(records), Some(places)) = (list("records"), list("blobs")) else { return result };
    let mut places = places.iter();
    let blobs = Array::new();
    for record in records.iter() {
        let mut bytes = places.next().unwrap();
        if bytes.is_null() {
            continue;
        }
        if let Some(start) = bytes.as_f64() {
            let end = places.next().unwrap().as_f64().unwrap();
            let given = given.unchecked_ref::<Array>().get(0).unchecked_into::<Uint8Array>();
            bytes = given.slice(start as u32, end as u32).into();
        }
        let blob = Object::new();
        let artifact_ref = Reflect::get(&record, &"artifact_ref".into()).unwrap();
        Reflect::set(&blob, &"artifactRef".into(), &artifact_ref).unwrap();
        Reflect::set(&blob, &"bytes".into(), &bytes).unwrap();
        blobs.push(&blob);
    }
    Reflect::set(&result, &"blobs".into(), &blobs).unwrap();
    result
}

fn with_bytes_in_place(value: JsValue, parts: &Array) -> JsValue {
    if Array::is_array(&value) {
        let list = value.unchecked_ref::<Array>().iter();
        return list.map(|item| with_bytes_in_place(item, parts)).collect::<Array>().into();
    }
    let Some(object) = value.dyn_ref::<Object>() else { return value };
    if let Some(at) = Reflect::get(&value, &"\0bytes".into()).unwrap().as_f64() {
        return parts.get(at as u32 + 1);
    }
    for key in Object::keys(object).iter() {
        let inner = with_bytes_in_place(Reflect::get(&value, &key).unwrap(), parts);
        Reflect::set(&value, &key, &inner).unwrap();
    }
    value
}
