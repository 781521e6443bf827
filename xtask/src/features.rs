//! The features of WebAssembly that a module declares.

use anyhow::{Context, Result, bail};
use wasmparser::{BinaryReader, Parser, Payload};

/// Marks features as unused in the section `target_features`, so that wasm-bindgen does not use them.
///
/// The standard library comes compiled, and says that it uses them, though nothing of it does.
pub fn mark_unused(module: &mut [u8], features: &[String]) -> Result<()> {
    for feature in features {
        let at = sign_of(module, feature)?;
        *module.get_mut(at).context("the section ends early")? = b'-';
    }
    Ok(())
}

/// Where the sign is that says whether a feature is used.
fn sign_of(module: &[u8], feature: &str) -> Result<usize> {
    for payload in Parser::new(0).parse_all(module) {
        let Payload::CustomSection(section) = payload.context("the module is damaged")? else { continue };
        if section.name() != "target_features" {
            continue;
        }
        let mut reader = BinaryReader::new(section.data(), section.data_offset());
        for _ in 0..reader.read_var_u32()? {
            let at = reader.original_position();
            reader.read_u8()?;
            if reader.read_string()? == feature {
                return Ok(at);
            }
        }
    }
    bail!("the module does not say whether it uses `{feature}`: take it out of `without-features` in the manifest")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module that says it uses `mutable-globals` and `multivalue`.
    const MODULE: &[u8] = b"\0asm\x01\0\0\0\0\x2e\x0ftarget_features\x02+\x0fmutable-globals+\x0amultivalue";

    #[test]
    fn a_feature_is_taken_back_and_no_other() {
        let mut module = MODULE.to_vec();
        mark_unused(&mut module, &["multivalue".to_owned()]).unwrap();
        let changed: Vec<_> = (0..MODULE.len()).filter(|&at| module[at] != MODULE[at]).collect();
        assert_eq!(changed, [MODULE.len() - 12]);
        assert_eq!(&module[MODULE.len() - 12..], b"-\x0amultivalue");
    }

    #[test]
    fn a_feature_that_the_module_does_not_name_is_an_error() {
        let error = mark_unused(&mut MODULE.to_vec(), &["multi".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("`multi`"), "{error}");
    }
}
