//! What test runners say at their end: how many tests passed and failed.

/// Sums up the closing lines in one run's output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub passed: u64,
    pub failed: u64,
}

impl Count {
    /// Looks at one line; lines that close nothing change nothing.
    pub fn read_line(&mut self, line: &str) {
        let line = without_colours(line);
        // nextest prints the output of a failed test indented, with a result of its own.
        if line.trim_start().starts_with("test result: ") && line.starts_with(' ') {
            return;
        }
        let line = line.trim();
        // cargo test and wasm-bindgen-test: `test result: ok. 5 passed; 0 failed; 0 ignored; …`
        // nextest: `Summary [ 1.2s] 5 tests run: 4 passed (1 slow), 1 failed, 0 skipped`
        let list = match line.strip_prefix("test result: ") {
            Some(rest) => rest.split_once(". ").map(|(_, list)| list),
            None => line.strip_prefix("Summary [").and_then(|rest| rest.split_once(" run: ")).map(|(_, list)| list),
        };
        if let Some(list) = list {
            for item in list.split([';', ',']) {
                let mut words = item.split_whitespace();
                let (Some(number), Some(what)) = (words.next().and_then(|word| word.parse().ok()), words.next()) else {
                    continue;
                };
                self.add(what, number);
            }
            return;
        }
        // tests/loading/run.mjs: `5 passed, 0 failed`
        if let Some((passed, failed)) = line.strip_suffix(" failed").and_then(|line| line.split_once(" passed, "))
            && let (Ok(passed), Ok(failed)) = (passed.parse(), failed.parse())
        {
            self.add("passed", passed);
            self.add("failed", failed);
            return;
        }
        // node --test: `ℹ pass 5`
        if let Some((what, number)) = line.strip_prefix("ℹ ").and_then(|rest| rest.split_once(' '))
            && let Ok(number) = number.parse()
        {
            self.add(what, number);
        }
    }

    fn add(&mut self, what: &str, number: u64) {
        match what {
            "passed" | "pass" => self.passed += number,
            // A test that Node cancelled, or that nextest gave up on, did not pass.
            "failed" | "fail" | "cancelled" | "timed" | "exec" => self.failed += number,
            _ => {}
        }
    }
}

/// Takes out ANSI colours.
fn without_colours(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        text += before;
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, passed: u64, failed: u64) {
        let mut count = Count::default();
        output.lines().for_each(|line| count.read_line(line));
        assert_eq!(count, Count { passed, failed });
    }

    #[test]
    fn every_runner_is_understood() {
        check(
            "running 5 tests\ntest result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            5,
            0,
        );
        check("test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out", 1, 2);
        check("     Summary [   0.016s] 12 tests run: 10 passed (1 slow), 2 failed, 3 skipped", 10, 2);
        check(
            "    test result: FAILED. 0 passed; 1 failed; 0 ignored\n  Summary [1s] 2 tests run: 1 passed, 1 failed",
            1,
            1,
        );
        check("     Summary [   9.0s] 3/9 tests run: 1 passed, 1 failed, 1 timed out, 0 skipped", 1, 2);
        check("node 22: import … found\n56 passed, 1 failed", 56, 1);
        check("ℹ tests 7\nℹ suites 0\nℹ pass 5\nℹ fail 1\nℹ cancelled 1\nℹ skipped 0", 5, 2);
    }

    #[test]
    fn colours_do_not_matter_and_other_lines_do_not_count() {
        check(
            "\x1b[32;1m     Summary\x1b[0m [   0.016s] \x1b[1m2\x1b[0m tests run: \x1b[1m2\x1b[0m \x1b[32;1mpassed\x1b[0m, 0 skipped",
            2,
            0,
        );
        check("5 passed\nwe passed 5 houses\nℹ a note\ntest a::b ... ok", 0, 0);
    }
}
