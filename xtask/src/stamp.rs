//! Skipping what is already done: a stamp file holds the hash of everything that a step depends on.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// What a step depends on.
#[derive(Default)]
pub struct Inputs(DefaultHasher);

impl Inputs {
    /// Some text: a version, a flag.
    pub fn text(mut self, text: &str) -> Self {
        text.hash(&mut self.0);
        self
    }

    /// The names and bytes of a file, or of every file in a folder; nothing when it is not there.
    pub fn path(mut self, path: &Path) -> Result<Self> {
        for file in files(path)? {
            file.hash(&mut self.0);
            fs::read(&file).with_context(|| format!("cannot read `{}`", file.display()))?.hash(&mut self.0);
        }
        Ok(self)
    }

    /// The hash of them all.
    pub fn hash(&self) -> String {
        format!("{:016x}", self.0.finish())
    }

    /// Whether the step was done with these inputs.
    pub fn are_done(&self, stamp: &Path) -> bool {
        fs::read_to_string(stamp).is_ok_and(|text| text == self.hash())
    }

    /// Notes that the step was done.
    pub fn set_done(&self, stamp: &Path) -> Result<()> {
        if let Some(folder) = stamp.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(stamp, self.hash()).with_context(|| format!("cannot write `{}`", stamp.display()))
    }
}

/// All files below a path, sorted; the path itself when it is a file.
pub fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    if path.is_dir() {
        for entry in fs::read_dir(path).with_context(|| format!("cannot list `{}`", path.display()))? {
            found.extend(files(&entry?.path())?);
        }
    }
    found.sort();
    Ok(found)
}
