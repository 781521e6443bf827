//! Texts in a normal form of Unicode, and letters in another case. The tables are the host's: methods of strings in WebAssembly, the
//! crate `unicode-normalization` and the standard library elsewhere. In the module they would be 10 KB (gzip).

/// A normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NormalForm {
    /// Characters with their marks composed.
    Nfc,
    /// Characters and their marks apart.
    Nfd,
    /// Composed, and what is but another shape of a character is that character.
    Nfkc,
}

/// The text in this form.
pub(crate) fn normalize(text: &str, form: NormalForm) -> String {
    #[cfg(target_arch = "wasm32")]
    return String::from(js_sys::JsString::from(text).normalize(match form {
        NormalForm::Nfc => "NFC",
        NormalForm::Nfd => "NFD",
        NormalForm::Nfkc => "NFKC",
    }));
    #[cfg(not(target_arch = "wasm32"))]
    {
        use unicode_normalization::UnicodeNormalization as _;
        match form {
            NormalForm::Nfc => text.nfc().collect(),
            NormalForm::Nfd => text.nfd().collect(),
            NormalForm::Nfkc => text.nfkc().collect(),
        }
    }
}
