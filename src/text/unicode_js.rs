//! Case and normal forms by the methods of JavaScript strings. In the module the tables would be 10 KB (gzip).

use js_sys::JsString;

use super::normal_form::NormalForm;

pub(super) fn lowercase(text: &str) -> String {
    JsString::from(text).to_lower_case().into()
}

pub(super) fn uppercase(text: &str) -> String {
    JsString::from(text).to_upper_case().into()
}

pub(super) fn normalize(text: &str, form: NormalForm) -> String {
    let name = match form {
        NormalForm::Nfc => "NFC",
        NormalForm::Nfd => "NFD",
        NormalForm::Nfkc => "NFKC",
    };
    JsString::from(text).normalize(name).into()
}
