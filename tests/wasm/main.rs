//! The goldens in WebAssembly: every call crosses the boundary as JavaScript makes it, without the npm package around
//! it. `cargo xtask test` runs them in Node and in Chromium, with run.mjs.
#![cfg(target_arch = "wasm32")]

#[cfg(test)]
mod calls;
#[cfg(test)]
#[path = "../it/calls/chat.rs"]
mod chat;
#[cfg(test)]
mod commits;
#[cfg(test)]
mod resident;
#[cfg(test)]
#[path = "../it/calls/tokenizer.rs"]
mod tokenizer;
#[cfg(test)]
mod values;

#[cfg(test)]
mod goldens {
    use include_dir::{Dir, File, include_dir};
    use js_sys::{Array, ArrayBuffer, JSON, Map, Object, Reflect, Uint8Array};
    use wasm_bindgen::{JsCast, JsValue};
    use wasm_bindgen_test::wasm_bindgen_test;

    static GOLDENS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/tests/golden");
    static TREES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/examples/trees");

    /// `include_dir!` does not notice a new file; xtask puts a hash of the folders here, so that the compiler does.
    const _FOLDERS: Option<&str> = option_env!("CTXWEAVE_GOLDENS");

    #[wasm_bindgen_test]
    fn every_golden_is_reproduced_byte_for_byte() {
        let mut files = Vec::new();
        collect(&GOLDENS, &mut files);
        assert!(!files.is_empty(), "there are goldens");
        let wrong: Vec<String> = files.into_iter().filter_map(difference).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// All the requests below a folder.
    fn collect(dir: &'static Dir<'_>, into: &mut Vec<&'static File<'static>>) {
        for entry in dir.dirs() {
            collect(entry, into);
        }
        let is_request = |name: &str| name.ends_with(".json") && !name.ends_with(".expected.json");
        into.extend(dir.files().filter(|file| file.path().to_str().is_some_and(is_request)));
    }

    /// The first line in which a result differs from its golden.
    fn difference(file: &File<'_>) -> Option<String> {
        let name = file.path().display();
        let expected = GOLDENS.get_file(file.path().with_extension("expected.json"));
        let expected = expected.and_then(File::contents_utf8).expect("every golden has its expected file");
        let actual = outcome(&parse(file));
        if actual == expected {
            return None;
        }
        let same = actual.split('\n').zip(expected.split('\n')).take_while(|(a, b)| a == b).count();
        let line = |text: &str| text.split('\n').nth(same).unwrap_or("(nothing)").chars().take(200).collect::<String>();
        Some(format!("{name}, line {}:\n  gives    {}\n  expected {}", same + 1, line(&actual), line(expected)))
    }

    /// The calls that goldens make, an area a file.
    const AREAS: &[Area] = &[crate::commits::call, crate::resident::call];

    /// Makes a call by its name, its arguments and, of a class, the steps; nothing when it does not know the name.
    type Area = fn(&str, &Array, &Array) -> Option<Result<JsValue, JsValue>>;

    fn outcome(golden: &JsValue) -> String {
        let result = Some(call(golden)).filter(|result| !result.is_undefined()).unwrap_or(JsValue::NULL);
        let text = JSON::stringify_with_replacer_and_space(&result, &JsValue::NULL, &JsValue::from(2)).unwrap();
        format!("{}\n", String::from(text))
    }

    /// Makes the call of a golden; `{ error }` when it throws.
    fn call(golden: &JsValue) -> JsValue {
        let args: Array = match get(golden, "args") {
            args if args.is_undefined() => Array::of1(&get(golden, "request")),
            args => args.unchecked_into(),
        };
        if let Some(name) = get(golden, "tree").as_string() {
            set(&args.get(0), "tree", &tree(&name));
        }
        if get(golden, "media").is_truthy() {
            set(&args.get(0), "media", &tree("media"));
        }
        let args: Array = revived(&args).unchecked_into();
        let steps = get(golden, "steps");
        let steps = if steps.is_undefined() { Array::new() } else { revived(&steps).unchecked_into() };
        deep_freeze(&args);
        deep_freeze(&steps);
        let name = get(golden, "call").as_string().expect("`call` is a string");
        let table_call = || crate::calls::call(&name, &args);
        let result = AREAS.iter().find_map(|area| area(&name, &args, &steps)).or_else(table_call);
        written(
            &result.unwrap_or_else(|| panic!("no test knows the call `{name}`")).unwrap_or_else(|error| thrown(&error)),
        )
    }

    /// What a thrown error looks like in a golden.
    pub(crate) fn thrown(error: &JsValue) -> JsValue {
        assert!(error.is_object(), "the thrown value is data: {error:?}");
        let wrapped = Object::new();
        set(&wrapped, "error", error);
        wrapped.into()
    }

    /// An argument as it is meant: see tests/it/calls.
    fn revived(value: &JsValue) -> JsValue {
        if Array::is_array(value) {
            return value.unchecked_ref::<Array>().iter().map(|item| revived(&item)).collect::<Array>().into();
        }
        let Some(object) = value.dyn_ref::<Object>() else { return value.clone() };
        if let Some(text) = get(value, "$text").as_string() {
            return Uint8Array::from(text.as_bytes()).into();
        }
        if let Some(hex) = get(value, "$hex").as_string() {
            let byte = |at| u8::from_str_radix(hex.get(at..at + 2).expect("two digits"), 16).expect("hex digits");
            return Uint8Array::from((0..hex.len()).step_by(2).map(byte).collect::<Vec<_>>().as_slice()).into();
        }
        if let Ok(pairs) = get(value, "$map").dyn_into::<Array>() {
            let map = Map::new();
            pairs.iter().map(|pair| Array::from(&pair)).for_each(|pair| {
                map.set(&revived(&pair.get(0)), &revived(&pair.get(1)));
            });
            return map.into();
        }
        let copy = Object::new();
        Object::keys(object).iter().for_each(|key| {
            Reflect::set(&copy, &key, &revived(&Reflect::get(value, &key).unwrap())).unwrap();
        });
        copy.into()
    }

    /// A result as a golden writes it: bytes as text or hex.
    fn written(value: &JsValue) -> JsValue {
        if let Some(bytes) = value.dyn_ref::<Uint8Array>() {
            let bytes = bytes.to_vec();
            let wrapped = Object::new();
            match std::str::from_utf8(&bytes) {
                Ok(text) => set(&wrapped, "$text", &text.into()),
                Err(_) => {
                    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                    set(&wrapped, "$hex", &hex.into());
                }
            }
            return wrapped.into();
        }
        if Array::is_array(value) {
            return value.unchecked_ref::<Array>().iter().map(|item| written(&item)).collect::<Array>().into();
        }
        let Some(object) = value.dyn_ref::<Object>() else { return value.clone() };
        assert_plain_object(object);
        let copy = Object::new();
        Object::keys(object).iter().for_each(|key| {
            Reflect::set(&copy, &key, &written(&Reflect::get(value, &key).unwrap())).unwrap();
        });
        copy.into()
    }

    fn assert_plain_object(object: &Object) {
        let prototype = Object::get_prototype_of(object);
        assert!(Object::is(&prototype, &Object::get_prototype_of(&Object::new())), "not a plain object: {object:?}");
    }

    fn tree(name: &str) -> JsValue {
        parse(TREES.get_file(format!("{name}.json")).expect("the golden names a sample tree"))
    }

    fn parse(file: &File<'_>) -> JsValue {
        JSON::parse(file.contents_utf8().expect("goldens are text")).expect("goldens are JSON")
    }

    fn get(object: &JsValue, key: &str) -> JsValue {
        Reflect::get(object, &key.into()).unwrap()
    }

    fn set(object: &JsValue, key: &str, value: &JsValue) {
        Reflect::set(object, &key.into(), value).unwrap();
    }

    /// Whoever writes to a frozen object is thrown out: the glue is strict code.
    fn deep_freeze(value: &JsValue) {
        // The bytes of a typed array cannot be frozen.
        if value.has_type::<Uint8Array>() || value.has_type::<ArrayBuffer>() {
            return;
        }
        if let Some(object) = value.dyn_ref::<Object>() {
            Object::freeze(object);
            Object::values(object).iter().for_each(|value| deep_freeze(&value));
        }
    }

    /// What the types promise of every value that comes out: no `Map`, no BigInt, and nothing that is null or
    /// undefined where it could be absent.
    #[wasm_bindgen_test]
    fn only_plain_data_comes_out() {
        let mut files = Vec::new();
        collect(&GOLDENS, &mut files);
        for file in files {
            let result = call(&parse(file));
            // A call may have nothing to say at all.
            if !result.is_undefined() {
                assert_plain(&result, &file.path().display().to_string());
            }
        }
    }

    fn assert_plain(value: &JsValue, place: &str) {
        if Array::is_array(value) {
            value.unchecked_ref::<Array>().iter().for_each(|item| assert_plain(&item, place));
        } else if let Some(object) = value.dyn_ref::<Object>() {
            assert_plain_object(object);
            for entry in Object::entries(object).iter() {
                let entry: Array = entry.unchecked_into();
                assert_plain(&entry.get(1), &format!("{place}.{}", entry.get(0).as_string().unwrap()));
            }
        } else {
            assert!(
                value.is_string() || value.as_f64().is_some() || value.as_bool().is_some() || value.is_null(),
                "{place}: {value:?}"
            );
        }
    }

    #[wasm_bindgen_test]
    fn the_version_is_that_of_the_crate() {
        assert_eq!(ctxweave::wasm::version(), env!("CARGO_PKG_VERSION"));
    }
}
