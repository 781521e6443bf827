//! What leaves as a value and not as JSON text: errors and small results, without the traps of serde-wasm-bindgen's defaults.

use ctxweave::wasm::call::call;
use js_sys::{JSON, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_test::wasm_bindgen_test;

fn answer(name: &str, request: &str) -> Result<JsValue, JsValue> {
    call(name, request.as_bytes(), &JsValue::UNDEFINED, &JsValue::UNDEFINED)
}

fn get(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &name.into()).unwrap()
}

/// An object of the host, with own fields only.
fn assert_plain(value: &JsValue) {
    let prototype = Object::get_prototype_of(value.unchecked_ref::<Object>());
    assert!(Object::is(&prototype, &Object::get_prototype_of(&Object::new())), "{value:?}");
}

#[wasm_bindgen_test]
fn an_error_holds_what_it_was_given() {
    let given = concat!(
        r#"{"type":"broken","nothing":null,"large":18446744073709551615,"least":-9223372036854775808,"#,
        r#""fraction":1.5,"list":[null,true,{"__proto__":1}],"empty":{},"__proto__":{"polluted":true}}"#
    );
    let request =
        format!(r#"{{"response":{{"error":{given}}},"options":{{"provider":"openai","parent":null,"ids":"n"}}}}"#);
    let thrown = answer("continuation", &request).unwrap_err();
    assert_plain(&thrown);
    assert_eq!(get(&thrown, "code"), "provider_error");
    assert!(get(&thrown, "message").is_string());
    let details = get(&thrown, "details");
    assert_plain(&details);
    let error = get(&details, "error");
    assert_plain(&error);
    // A number as `JSON.parse` gives it, never a BigInt.
    assert_eq!(get(&error, "large").as_f64(), Some(18_446_744_073_709_551_615_u64 as f64));
    assert!(get(&error, "nothing").is_null());
    assert!(get(&error, "polluted").is_undefined());
    let expected = JSON::stringify(&JSON::parse(given).unwrap()).unwrap();
    assert_eq!(JSON::stringify(&error).unwrap(), expected);
}

#[wasm_bindgen_test]
fn a_small_result_is_a_value() {
    let info = answer("modelInfo", r#"{"name":"gpt-4o"}"#).unwrap();
    assert_plain(&info);
    assert_eq!(get(&info, "tokenizer"), "o200k_base");
    assert_eq!(get(&info, "contextWindow").as_f64(), Some(128_000.0));
    // Absent, not null and not undefined.
    assert!(!Reflect::has(&info, &"inputLimit".into()).unwrap());
    assert!(answer("modelInfo", r#"{"name":"no such model"}"#).unwrap().is_null());
    assert_eq!(answer("countTokens", r#"{"text":""}"#).unwrap().as_f64(), Some(0.0));
}

#[wasm_bindgen_test]
fn a_text_by_itself_is_json_text() {
    let name = answer("tokenizerName", "{}").unwrap().as_string().unwrap();
    assert_eq!(name, r#""heuristic""#);
}
