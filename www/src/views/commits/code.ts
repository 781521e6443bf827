import { bytesContent, filesOf, javascript, literal, raw, type Code } from "../../ui/code.js";
import { commitOf, formatOf, IMPORT_OPTIONS } from "./session.js";
import { chosen, own, requestFor, session } from "./state.js";

/** The materialization, as code: imports the file, adds the user's messages, and materializes the chosen commit. */
export function codeOfCommits(): Code | undefined {
  const opened = own.value.value;
  const graph = session.value?.graph;
  const commit = chosen.value;
  if (!opened || !graph || commit === undefined) return undefined;
  const file = bytesContent(opened.name, opened.file);
  const program: Program = {
    from: formatOf(opened),
    file,
    request: requestFor(commit),
    forks: opened.forks.map((fork) => ({ line: `${fork.line}\n`, ...commitOf(fork, graph) })),
  };
  return { javascript: inJavaScript(program), rust: inRust(program), files: filesOf(file) };
}

interface Program {
  from: string;
  file: ReturnType<typeof bytesContent>;
  request: ReturnType<typeof requestFor>;
  forks: readonly ({ line: string } & ReturnType<typeof commitOf>)[];
}

function inJavaScript({ from, file, request, forks }: Program): string {
  const adding = `for (const { line, ...record } of ${literal(forks)}) {
  const blob = new TextEncoder().encode(line);
  const artifact_ref = artifactRef(blob);
  blobs.set(artifact_ref, blob);
  graph.checkpoint({ ...record, artifact_ref });
}`;
  return javascript({
    area: "commits",
    uses: ["CommitGraph", "importTranscript", ...(forks.length > 0 ? ["artifactRef"] : [])],
    lines: [
      `const imported = importTranscript(${JSON.stringify(from)}, ${file.javascript}, ${literal(IMPORT_OPTIONS)});`,
      "const graph = new CommitGraph();",
      "for (const record of imported.records) graph.checkpoint(record);",
      "const blobs = new Map(imported.blobs.map(({ artifactRef, bytes }) => [artifactRef, bytes]));",
      ...(forks.length > 0 ? [adding] : []),
      `const { bytes } = graph.materialize(${literal(request)}, blobs);`,
      "process.stdout.write(bytes);",
    ],
  });
}

function inRust({ from, file, request, forks }: Program): string {
  const { commit, stop = "compaction", format, crossFamily = "render" } = request;
  const imports = ["CommitGraph", "CrossFamily", "PlanRequest", "Provenance", "Stop", "materialize"];
  if (forks.length > 0) imports.push("CommitType", "Record", "artifact_ref");
  const asText = (text: string | null | undefined): string => (text ? `Some(${JSON.stringify(text)}.into())` : "None");
  const isNamed = stop === "compaction" || stop === "root";
  const adding = forks.map(
    ({ parent, format, summary, created_at, line }) => `
    let blob = ${raw(line)}.as_bytes().to_vec();
    let mut record = Record::new(CommitType::Delta, &artifact_ref(&blob), "${format}", "${created_at}");
    record.parent = ${asText(parent)};
    record.summary = Some(${raw(summary)}.into());
    blobs.insert(artifact_ref(&blob), blob);
    graph.checkpoint(record)?;`,
  );
  return `use std::collections::HashMap;
use std::io::Write;

use ctxweave::commits::formats::Format;
use ctxweave::commits::import::{ImportOptions, import_transcript};
use ctxweave::commits::{${imports.join(", ")}};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = ImportOptions {
        provenance: Provenance { principal: ${asText(IMPORT_OPTIONS.principal)}, ..Default::default() },
        parent: None,
        created_at: ${asText(IMPORT_OPTIONS.createdAt)},
        every: 1,
        counter: &ctxweave::tokens::Heuristic,
        limits: &Default::default(),
    };
    let imported = import_transcript(Format::${capital(from)}, ${file.rust}, &options)?;
    let mut graph = CommitGraph::default();
    for record in imported.records {
        graph.checkpoint(record)?;
    }
    let ${forks.length > 0 ? "mut " : ""}blobs: HashMap<_, _> = imported.blobs.into_iter().collect();${adding.join("")}
    let request = PlanRequest {
        commit: ${asText(commit)},
        stop: Stop::${isNamed ? capital(stop) : `At("${stop}".into())`},
        format: ${asText(format)},
        cross_family: CrossFamily::${capital(crossFamily)},
        ..Default::default()
    };
    let made = materialize(&graph, request, |artifact| blobs.get(artifact).map(Vec::as_slice))?;
    std::io::stdout().write_all(&made.bytes)?;
    Ok(())
}
`;
}

const capital = (words: string): string =>
  words
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
