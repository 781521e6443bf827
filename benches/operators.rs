//! A template of 10,000 steps natively: read, explained, written. `cargo bench --bench operators`.

use ctxweave::Limits;
use ctxweave::operators::{ParseOptions, explain, parse_task, write_task};
use divan::Bencher;
use divan::counter::BytesCount;

/// A sequence of that many steps, of which every other says something.
fn template(steps: usize) -> String {
    let said = "<context_management><inherit_context>none</inherit_context></context_management>";
    let step = |n: usize| {
        let said = if n.is_multiple_of(2) { said } else { "" };
        format!(
            "    <task type=\"atomic\" id=\"s{n}\">\n      <description>Step {n} &amp; its work</description>\n      {said}\n    </task>\n"
        )
    };
    let all: String = (0..steps).map(step).collect();
    format!("<task type=\"sequential\">\n  <steps>\n{all}  </steps>\n</task>\n")
}

const SIZES: [usize; 3] = [2_500, 5_000, 10_000];

#[divan::bench(args = SIZES)]
fn parse(bencher: Bencher, steps: usize) {
    let xml = template(steps);
    bencher.counter(BytesCount::new(xml.len())).bench(|| parse_task(&xml, &ParseOptions::default()));
}

#[divan::bench(args = SIZES)]
fn parse_and_explain(bencher: Bencher, steps: usize) {
    let xml = template(steps);
    bencher
        .counter(BytesCount::new(xml.len()))
        .bench(|| parse_task(&xml, &ParseOptions::default()).map(|parsed| explain(&parsed.task)));
}

#[divan::bench(args = SIZES)]
fn write(bencher: Bencher, steps: usize) {
    let xml = template(steps);
    let Ok(parsed) = parse_task(&xml, &ParseOptions::default()) else { return };
    bencher.counter(BytesCount::new(xml.len())).bench(|| write_task(&parsed.task, Limits::default()));
}

fn main() {
    divan::main();
}
