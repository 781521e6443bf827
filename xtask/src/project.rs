//! Where things are.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

/// The working tree and its folders.
pub struct Project {
    pub root: PathBuf,
    /// What cargo builds into; `CARGO_TARGET_DIR` moves it.
    pub target: PathBuf,
}

impl Project {
    pub fn find() -> Result<Self> {
        // Cargo says at run time which tree it runs for. What was compiled in may be another one: two checkouts that
        // share a target folder share this program.
        let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&here).parent().context("xtask is not inside the project")?.to_owned();
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
        Ok(Self { root, target })
    }

    /// A path from the root.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// xtask's own results and stamps.
    pub fn scratch(&self) -> PathBuf {
        self.target.join("xtask")
    }

    /// A command that runs in the root.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        command
    }

    pub fn cargo(&self) -> Command {
        self.command("cargo")
    }

    pub fn node(&self) -> Command {
        self.command("node")
    }

    /// A program from node_modules. Not through `npx`, which asks the registry when it does not find it.
    pub fn npm_bin(&self, name: &str) -> Command {
        self.command(self.path("node_modules/.bin").join(name))
    }
}
