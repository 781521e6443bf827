//! Case and normal forms by the standard library and the crate `unicode-normalization`.

use unicode_normalization::UnicodeNormalization as _;

use super::normal_form::NormalForm;

pub(super) fn lowercase(text: &str) -> String {
    text.to_lowercase()
}

pub(super) fn uppercase(text: &str) -> String {
    text.to_uppercase()
}

pub(super) fn normalize(text: &str, form: NormalForm) -> String {
    match form {
        NormalForm::Nfc => text.nfc().collect(),
        NormalForm::Nfd => text.nfd().collect(),
        NormalForm::Nfkc => text.nfkc().collect(),
    }
}
