import { bytesContent, filesOf, javascript, literal, raw, type Code } from "../../ui/code.js";
import { formatOf, isCbor } from "./session.js";
import { chosen, crossFamily, format, own, stop } from "./state.js";

const capital = (format: string): string =>
  format
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

/** The materialization, as code: imports the file, adds the user's messages, and materializes the chosen commit. */
export function codeOfCommits(): Code | undefined {
  const session = own.value.value;
  const commit = chosen.value;
  if (!session || commit === undefined) return undefined;
  const file = bytesContent(session.name, session.file);
  const from = formatOf(session);
  const request = {
    commit,
    ...(stop.value === "compaction" ? {} : { stop: stop.value }),
    ...(format.value ? { format: format.value, crossFamily: crossFamily.value } : {}),
  };
  const options = { createdAt: "1970-01-01T00:00:00.000Z", principal: "page" };
  const forks = session.forks.map(({ parent, line, at, text }) => ({ parent, line, at, text }));
  const isCborFile = isCbor(from);
  return {
    javascript: javascript({
      area: "commits",
      uses: ["CommitGraph", "importTranscript", ...(forks.length > 0 ? ["artifactRef"] : [])],
      lines: [
        `const imported = importTranscript(${JSON.stringify(from)}, ${file.javascript}, ${literal(options)});`,
        "const graph = new CommitGraph();",
        "for (const record of imported.records) graph.checkpoint(record);",
        "const blobs = new Map(imported.blobs.map(({ artifactRef, bytes }) => [artifactRef, bytes]));",
        ...(forks.length > 0
          ? [
              `for (const { parent, line, at, text } of ${literal(forks)}) {`,
              "  const blob = new TextEncoder().encode(`${line}\\n`);",
              "  const artifact_ref = artifactRef(blob);",
              "  blobs.set(artifact_ref, blob);",
              `  const format = ${isCborFile ? '"generic-v1"' : "graph.show(parent).format"};`,
              '  graph.checkpoint({ parent, commit_type: "delta", artifact_ref, format, principal: "page", summary: text, message_count: 1, created_at: at });',
              "}",
            ]
          : []),
        `const { bytes } = graph.materialize(${literal(request)}, blobs);`,
        "process.stdout.write(bytes);",
      ],
    }),
    rust: [
      "use std::collections::HashMap;",
      "use std::io::Write;",
      "",
      "use ctxweave::commits::formats::Format;",
      "use ctxweave::commits::import::{ImportOptions, import_transcript};",
      `use ctxweave::commits::{${usesOf(forks.length > 0).join(", ")}};`,
      "",
      "fn main() -> Result<(), Box<dyn std::error::Error>> {",
      "    let options = ImportOptions {",
      '        provenance: Provenance { principal: Some("page".into()), ..Default::default() },',
      "        parent: None,",
      `        created_at: Some(${JSON.stringify(options.createdAt)}),`,
      "        every: 1,",
      "        counter: &ctxweave::tokens::Heuristic,",
      "        limits: &Default::default(),",
      "    };",
      `    let imported = import_transcript(Format::${capital(from)}, ${file.rust}, &options)?;`,
      "    let mut graph = CommitGraph::default();",
      "    for record in imported.records {",
      "        graph.checkpoint(record)?;",
      "    }",
      `    let ${forks.length > 0 ? "mut " : ""}blobs: HashMap<_, _> = imported.blobs.into_iter().collect();`,
      ...forks.flatMap(({ parent, line, at, text }) => [
        `    let blob = ${raw(`${line}\n`)}.as_bytes().to_vec();`,
        `    let format = ${isCborFile ? '"generic-v1".to_owned()' : `graph.show(${JSON.stringify(parent)})?.format.clone()`};`,
        `    let mut record = Record::new(CommitType::Delta, &artifact_ref(&blob), &format, ${JSON.stringify(at)});`,
        `    record.parent = Some(${JSON.stringify(parent)}.into());`,
        `    record.summary = Some(${raw(text)}.into());`,
        "    blobs.insert(artifact_ref(&blob), blob);",
        "    graph.checkpoint(record)?;",
      ]),
      "    let request = PlanRequest {",
      `        commit: Some(${JSON.stringify(commit)}.into()),`,
      `        stop: ${rustStop(stop.value)},`,
      ...(format.value
        ? [
            `        format: Some(${JSON.stringify(format.value)}.into()),`,
            `        cross_family: CrossFamily::${capital(crossFamily.value)},`,
          ]
        : ["        cross_family: CrossFamily::Render,"]),
      "        ..Default::default()",
      "    };",
      "    let made = materialize(&graph, request, |artifact| blobs.get(artifact).map(Vec::as_slice))?;",
      "    std::io::stdout().write_all(&made.bytes)?;",
      "    Ok(())",
      "}",
      "",
    ].join("\n"),
    files: filesOf(file),
  };
}

const usesOf = (forks: boolean): string[] => [
  ...(forks ? ["CommitType", "Record", "artifact_ref"] : []),
  ...["CommitGraph", "CrossFamily", "PlanRequest", "Provenance", "Stop", "materialize"],
];

function rustStop(stop: string): string {
  if (stop === "compaction" || stop === "root") return `Stop::${capital(stop)}`;
  return `Stop::At(${JSON.stringify(stop)}.into())`;
}
