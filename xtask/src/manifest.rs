//! `wasm-pack.toml`, the build manifest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use wasm_bindgen_cli_support::Bindgen;

/// The whole file. An unknown key is an error: a misspelt ceiling must not mean none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub build: Build,
    /// The module that tests and the demo use in place of the flavors.
    pub quick: Option<Quick>,
    pub flavors: BTreeMap<String, Flavor>,
    /// The vocabulary assets that go into the package, by the name of their encoding.
    #[serde(default)]
    pub vocabularies: BTreeMap<String, Vocabulary>,
}

/// How every flavor is built.
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
    /// Options of wasm-bindgen.
    pub wasm_bindgen: Vec<BindgenOption>,
    /// Flags of wasm-opt, except for those that name files.
    pub wasm_opt: Vec<String>,
    /// What every module may import, without the hash that wasm-bindgen appends to a name.
    pub imports: Vec<String>,
}

/// An option of wasm-bindgen, named after the method of its builder.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BindgenOption {
    OmitDefaultModulePath,
    RemoveProducersSection,
    ResetStateFunction,
}

impl BindgenOption {
    pub fn apply(self, bindgen: &mut Bindgen) {
        match self {
            Self::OmitDefaultModulePath => bindgen.omit_default_module_path(true),
            Self::RemoveProducersSection => bindgen.remove_producers_section(true),
            Self::ResetStateFunction => bindgen.reset_state_function(true),
        };
    }
}

/// One module with all areas, compiled quickly.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Quick {
    /// The cargo profile.
    pub profile: String,
}

/// The npm package that has all flavors but those that say otherwise.
pub const PACKAGE: &str = "ctxweave";

/// The sets of exports in src/wasm.
const EXPORTS: [&str; 10] =
    ["chat", "commits", "counting", "folders", "identify", "import", "loom", "operators", "tokenizer", "workspace"];

/// One module with its own exports, size and imports.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Flavor {
    /// What it exports, by the names in src/wasm.
    pub exports: Vec<String>,
    /// Cargo features.
    #[serde(default)]
    pub features: Vec<String>,
    /// Flags of rustc for our own crate, after those of the profile.
    #[serde(default)]
    pub rustc: Vec<String>,
    /// How hard wasm-opt tries.
    pub wasm_opt_level: String,
    /// What the module imports beyond `build.imports`.
    #[serde(default)]
    pub imports: Vec<String>,
    /// Ceiling of its size in bytes, compressed with `gzip -9`.
    pub max_gzip: u64,
    /// The npm package that it is in.
    #[serde(default = "package")]
    pub package: String,
}

fn package() -> String {
    PACKAGE.to_owned()
}

/// One vocabulary asset.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Vocabulary {
    /// Ceiling of its size in bytes, compressed with `gzip -9`.
    pub max_gzip: u64,
    /// The npm package that it is in.
    #[serde(default = "package")]
    pub package: String,
}

impl Manifest {
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
        let manifest: Self =
            toml::from_str(&text).with_context(|| format!("`{}` is no build manifest", path.display()))?;
        let mut exports = manifest.flavors.values().flat_map(|flavor| &flavor.exports);
        if let Some(unknown) = exports.find(|name| !EXPORTS.contains(&name.as_str())) {
            bail!("`{unknown}` is no set of exports; there are `{}`", EXPORTS.join("`, `"));
        }
        Ok(manifest)
    }

    /// What some flavor imports beyond the shared imports.
    pub fn flavor_imports(&self) -> BTreeSet<&str> {
        self.flavors.values().flat_map(|flavor| &flavor.imports).map(String::as_str).collect()
    }
}
