//! Texts in a normal form of Unicode, and letters in another case. The tables are the host's: methods of strings in WebAssembly, the
//! crate `unicode-normalization` and the standard library elsewhere. In the module they would be 10 KB (gzip).

/// A normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NormalForm {
    /// Characters with their marks composed.
    #[cfg(feature = "tokenize")]
    Nfc,
    /// Characters and their marks apart.
    #[cfg(feature = "loom")]
    Nfd,
    /// Composed, and what is but another shape of a character is that character.
    #[cfg(feature = "tokenize")]
    Nfkc,
}

/// The text in this form.
pub(crate) fn normalize(text: &str, form: NormalForm) -> String {
    #[cfg(target_arch = "wasm32")]
    return String::from(js_sys::JsString::from(text).normalize(match form {
        #[cfg(feature = "tokenize")]
        NormalForm::Nfc => "NFC",
        #[cfg(feature = "loom")]
        NormalForm::Nfd => "NFD",
        #[cfg(feature = "tokenize")]
        NormalForm::Nfkc => "NFKC",
    }));
    #[cfg(not(target_arch = "wasm32"))]
    {
        use unicode_normalization::UnicodeNormalization as _;
        match form {
            #[cfg(feature = "tokenize")]
            NormalForm::Nfc => text.nfc().collect(),
            #[cfg(feature = "loom")]
            NormalForm::Nfd => text.nfd().collect(),
            #[cfg(feature = "tokenize")]
            NormalForm::Nfkc => text.nfkc().collect(),
        }
    }
}
