//! The goldens in WebAssembly: every call crosses the boundary as JavaScript makes it, without the npm package around
//! it. Runs in Node, and in Chromium where `WASM_BINDGEN_USE_BROWSER` is set; `cargo xtask test` does both.
#![cfg(target_arch = "wasm32")]

#[cfg(test)]
mod goldens {
    use ctxweave::wasm::loom::{assemble_buffer_js, assemble_dialogue_js};
    use include_dir::{Dir, File, include_dir};
    use js_sys::{Array, JSON, Object, Reflect};
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

    /// What is wrong with one golden: the first line that differs.
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

    fn outcome(golden: &JsValue) -> String {
        let request = get(golden, "request");
        if let Some(name) = get(golden, "tree").as_string() {
            set(&request, "tree", &tree(&name));
        }
        if get(golden, "media").is_truthy() {
            set(&request, "media", &tree("media"));
        }
        deep_freeze(&request);
        let call = get(golden, "call").as_string().expect("`call` is a string");
        let result = match call.as_str() {
            "assembleDialogue" => assemble_dialogue_js(request),
            "assembleBuffer" => assemble_buffer_js(request),
            other => panic!("no test knows the call `{other}`"),
        };
        let result = result.unwrap_or_else(|error| {
            assert!(error.is_object(), "what is thrown is data: {error:?}");
            let wrapped = Object::new();
            set(&wrapped, "error", &error);
            wrapped.into()
        });
        let text = JSON::stringify_with_replacer_and_space(&result, &JsValue::NULL, &JsValue::from(2)).unwrap();
        format!("{}\n", String::from(text))
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
            let golden = parse(file);
            let request = get(&golden, "request");
            if let Some(name) = get(&golden, "tree").as_string() {
                set(&request, "tree", &tree(&name));
            }
            let call = get(&golden, "call").as_string().unwrap();
            let result =
                if call == "assembleBuffer" { assemble_buffer_js(request) } else { assemble_dialogue_js(request) };
            assert_plain(&result.unwrap_or_else(|error| error), &file.path().display().to_string());
        }
    }

    fn assert_plain(value: &JsValue, place: &str) {
        if Array::is_array(value) {
            value.unchecked_ref::<Array>().iter().for_each(|item| assert_plain(&item, place));
        } else if let Some(object) = value.dyn_ref::<Object>() {
            let prototype = Object::get_prototype_of(object);
            assert!(Object::is(&prototype, &Object::get_prototype_of(&Object::new())), "{place}: not a plain object");
            for entry in Object::entries(object).iter() {
                let entry: Array = entry.unchecked_into();
                assert_plain(&entry.get(1), &format!("{place}.{}", entry.get(0).as_string().unwrap()));
            }
        } else {
            assert!(value.is_string() || value.as_f64().is_some() || value.as_bool().is_some(), "{place}: {value:?}");
        }
    }

    #[wasm_bindgen_test]
    fn the_version_is_that_of_the_crate() {
        assert_eq!(ctxweave::wasm::version(), env!("CARGO_PKG_VERSION"));
    }
}
