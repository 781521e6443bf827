//! `wasm-pack.toml`, the build manifest.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

/// The whole file. An unknown key is an error: a misspelt ceiling must not mean none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub build: Build,
    pub flavours: BTreeMap<String, Flavour>,
    /// The vocabulary assets that go into the package, by the name of their encoding.
    #[serde(default)]
    pub vocabularies: BTreeMap<String, Vocabulary>,
}

/// How every flavour is built.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Build {
    /// The cargo profile.
    pub profile: String,
    /// Whether the build fails unless rustc was told to optimise across crates.
    pub lto: bool,
    /// Features of the target that rustc may use, as `simd128`.
    pub target_features: Vec<String>,
    /// Features of the target that it shall do without, though rustc uses them by default.
    #[serde(default)]
    pub without_features: Vec<String>,
    /// Flags of LLVM.
    #[serde(default)]
    pub llvm_args: Vec<String>,
    /// Flags besides those that say where things are.
    pub wasm_bindgen: Vec<String>,
    /// Flags besides those that say where things are.
    pub wasm_opt: Vec<String>,
}

/// The npm package that has all flavours but those that say otherwise.
pub const PACKAGE: &str = "ctxweave";

/// One module with its own features, size and imports.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Flavour {
    /// Whether the areas that cargo takes by default are in it.
    #[serde(default = "yes")]
    pub default_features: bool,
    /// Cargo features besides.
    pub features: Vec<String>,
    /// Flags of rustc for our own crate, after those of the profile.
    #[serde(default)]
    pub rustc: Vec<String>,
    /// How hard wasm-opt tries.
    pub wasm_opt_level: String,
    /// All that the module imports, without the hash that wasm-bindgen puts at the end of a name.
    pub imports: Vec<String>,
    pub ceiling: Ceiling,
    /// The npm package that it is in.
    #[serde(default = "package")]
    pub package: String,
}

fn yes() -> bool {
    true
}

fn package() -> String {
    PACKAGE.to_owned()
}

/// One vocabulary asset.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vocabulary {
    pub ceiling: Ceiling,
    /// The npm package that it is in.
    #[serde(default = "package")]
    pub package: String,
}

/// Bytes that the file may have at most.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ceiling {
    pub raw: u64,
    pub gzip: u64,
    pub brotli: u64,
}

impl Manifest {
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
        toml::from_str(&text).with_context(|| format!("`{}` is no build manifest", path.display()))
    }
}
