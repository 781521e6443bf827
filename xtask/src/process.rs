//! Starting other programs: what they print is seen, and a failure names the command.

use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Error, Result, anyhow, bail};

/// Says what comes next; long steps print their own progress below.
pub fn step(what: &str) {
    println!("==> {what}");
    // Otherwise it could come after what the program prints itself.
    io::stdout().flush().ok();
}

/// Runs it with its output on the terminal.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|error| cannot_start(command, &error))?;
    succeeded(command, status)
}

/// Where a program's output goes: to the terminal at once, or, while others print there, all together at the end.
pub struct Terminal {
    held: Option<String>,
}

impl Terminal {
    pub fn direct() -> Self {
        Self { held: None }
    }

    /// Holds everything until [`Terminal::release`].
    pub fn held() -> Self {
        Self { held: Some(String::new()) }
    }

    /// Announces what comes next.
    pub fn step(&mut self, what: &str) {
        self.line(&format!("==> {what}"));
    }

    pub fn line(&mut self, line: &str) {
        match &mut self.held {
            Some(held) => {
                held.push_str(line);
                held.push('\n');
            }
            None => println!("{line}"),
        }
    }

    /// Runs a command with its output here.
    pub fn run(&mut self, command: &mut Command) -> Result<()> {
        let status = watch(command, |line| {
            self.line(line);
            false
        })?;
        succeeded(command, status)
    }

    /// Prints what was held.
    pub fn release(&mut self) {
        if let Some(held) = &mut self.held {
            print!("{held}");
            io::stdout().flush().ok();
            held.clear();
        }
    }
}

/// Runs it and gives what it printed to stdout; its stderr is part of the error.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output().map_err(|error| cannot_start(command, &error))?;
    succeeded(command, output.status).with_context(|| String::from_utf8_lossy(&output.stderr).trim().to_owned())?;
    String::from_utf8(output.stdout).with_context(|| format!("`{}` printed something that is no text", show(command)))
}

/// Whether it starts and succeeds; prints nothing.
pub fn works(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Runs it and hands over each line of its output, stdout and stderr in the order in which they come. `see` says
/// whether the line is printed too.
pub fn watch(command: &mut Command, mut see: impl FnMut(&str) -> bool) -> Result<ExitStatus> {
    let (reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().map_err(|error| cannot_start(command, &error))?;
    // The command holds the writing ends; while they are open the pipe never ends.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    for line in BufReader::new(reader).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        if see(&line) {
            println!("{line}");
        }
    }
    Ok(child.wait()?)
}

/// An error unless the status is success.
pub fn succeeded(command: &Command, status: ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("`{}` failed ({status})", show(command));
    }
    Ok(())
}

fn cannot_start(command: &Command, error: &io::Error) -> Error {
    let program = command.get_program().to_string_lossy();
    if error.kind() != ErrorKind::NotFound {
        return anyhow!("cannot start `{program}`: {error}");
    }
    match install_hint(&program) {
        Some(hint) => anyhow!("`{program}` is not installed: {hint}"),
        None => anyhow!("`{program}` is not there: run `cargo xtask setup`"),
    }
}

/// What to install when a program that `setup` cannot bring is missing.
pub fn install_hint(program: &str) -> Option<&'static str> {
    Some(match program {
        "cargo" | "rustc" | "rustup" => {
            "install Rust 1.91 or later with rustup (Debian: `apt-get install rustup`, then `rustup default stable`)"
        }
        "node" | "npm" => "install Node.js 20.19 or later and npm (Debian: `apt-get install nodejs npm`)",
        _ => return None,
    })
}

fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
