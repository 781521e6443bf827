//! Texts in lower and in upper case.
//!
//! The standard library's tables for it are a tenth of a small module, and in WebAssembly the host has the same.

/// A text in lower case.
pub(crate) fn lowercase(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    #[cfg(target_arch = "wasm32")]
    return String::from(js_sys::JsString::from(text).to_lower_case());
    #[cfg(not(target_arch = "wasm32"))]
    text.to_lowercase()
}

/// A text in upper case.
pub(crate) fn uppercase(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_uppercase();
    }
    #[cfg(target_arch = "wasm32")]
    return String::from(js_sys::JsString::from(text).to_upper_case());
    #[cfg(not(target_arch = "wasm32"))]
    text.to_uppercase()
}
