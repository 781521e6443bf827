/** `ctxweave folders`: the AGENTS.md and CLAUDE.md files that hold for a file, as one prompt section. */

import { resolve } from "node:path";
import type { ChainRequest, ContextChain, ContextFile } from "../types/folders.js";
import { openArea, tokenizerOption } from "./areas.js";
import { choice, flag, list, number, text } from "./arguments.js";
import { command, type Host, type Outcome } from "./command.js";
import { misused, unusable } from "./failure.js";
import { below, filesBelow, filesIn, folderOf, rootOf, upwards } from "./files.js";
import { given } from "./input.js";
import type { Line } from "./output.js";
import { counted, diagnosticLines, grouped, tokensLine } from "./report.js";

export const folders = command({
  name: "folders",
  summary: "the AGENTS.md and CLAUDE.md files that hold for a file, as one prompt section",
  usage: "--for PATH [options]   or   FOLDER... [options]",
  about: `With \`--for\` the chain of a file: the AGENTS.md (else CLAUDE.md) of its folder and of each folder above, up to the
    root of the repository. With FOLDERs what these folders load: their own files, and those that these watch in their front
    matter. Where \`--max-tokens\` is too little, the file nearest to the work is cut last.`,
  options: {
    for: list("PATH", "the file or folder that is worked on; it need not be there yet"),
    root: text("FOLDER", "where the chain begins; default: the nearest folder above with `.git`, else the current one"),
    "max-tokens": number("N", "the most that the texts of all files may have together"),
    tokenizer: tokenizerOption,
    watched: choice(["ancestors", "all", "none"], "which files come along when a loaded file watches them"),
    list: flag("list the folders that have such a file"),
    changed: list("PATH", "say whose files watch this one, and who watches those"),
  },
  examples: [
    {
      description: "what an agent should know before it touches a file",
      line: "npx ctxweave folders --for src/main.rs",
    },
    { description: "in at most 50 tokens", line: "npx ctxweave folders --for src/main.rs --max-tokens 50" },
    {
      description: "for a program: the prompt, the files and what each costs",
      line: "npx ctxweave folders --for src/main.rs --json > chain.json",
    },
    { description: "the folders that have such a file", line: "npx ctxweave folders --list" },
    { description: "what folders load, and what they watch", line: "npx ctxweave folders src docs --watched all" },
    { description: "whose files may have to follow a change", line: "npx ctxweave folders --changed src/AGENTS.md" },
  ],
  async run(values, operands, { progress }): Promise<Outcome> {
    const wanted = [operands, values.for, values.changed, values.list ? [true] : []].filter((list) => list.length > 0);
    if (wanted.length !== 1) throw misused("say one of `--for PATH`, FOLDERs, `--list` and `--changed PATH`");
    if (values.list) return listed(rootFor(values.root, "."), progress);
    if (values.changed.length > 0) return told(rootFor(values.root, values.changed[0]), values.changed, progress);

    const { area, tokenizer } = await openArea("folders", values.tokenizer);
    const root = rootFor(values.root, values.for[0] ?? operands[0]);
    const chosen = values.for.length > 0 ? chainOf(root, values.for) : selectionOf(root, operands);
    const files = chosen.files && values.watched !== "all" ? chosen.files : filesBelow(root, progress);
    const { prompt, ...chain } = area.buildContextChain({
      files,
      render: true,
      selected: chosen.selected,
      parentChain: values.for.length > 0,
      ...given({
        maxTokens: values["max-tokens"],
        includeWatched: values.watched as ChainRequest["includeWatched"],
        tokenizer,
      }),
    });
    return {
      result: prompt,
      named: { prompt },
      report: { root, ...chain },
      lines: chainLines(root, chain, values["max-tokens"]),
    };
  },
});

const rootFor = (root: string | undefined, path = "."): string =>
  root === undefined ? rootOf(folderOf(path)) : resolve(root);

/** What was chosen, and the files that are enough for it. */
interface Chosen {
  selected: string[];
  files?: ContextFile[];
}

/** The chain of each path: of its folder, or the nearest above that has a file. */
function chainOf(root: string, paths: readonly string[]): Chosen {
  const files = new Map<string, ContextFile>();
  const selected = new Set<string>();
  for (const path of paths) {
    const folder = folderOf(path);
    below(root, folder);
    const chain = upwards(folder, root).map((above) => ({ above, found: filesIn(root, above) }));
    const nearest = chain.find(({ found }) => found.length > 0);
    if (!nearest) throw unusable(`there is no AGENTS.md and no CLAUDE.md from \`${folder}\` up to \`${root}\``);
    selected.add(below(root, nearest.above));
    for (const file of chain.flatMap(({ found }) => found)) files.set(file.path, file);
  }
  return { selected: [...selected], files: [...files.values()] };
}

/** Folders as they were named; what they watch may be anywhere. */
function selectionOf(root: string, paths: readonly string[]): Chosen {
  return { selected: paths.map((path) => below(root, resolve(path))) };
}

const reasons = { selected: "chosen", ancestor: "above" };

/** What was loaded, what was cut and what was left out, in the order of the prompt. */
function chainLines(root: string, chain: ContextChain, maxTokens: number | undefined): Line[] {
  const { files, omitted, totalTokens: total, tokenizer, tokenizerError, diagnostics } = chain;
  const all = [...files.map(({ tokens }) => tokens), ...omitted.map(({ tokens }) => tokens)];
  const width = Math.max(0, ...all.map((tokens) => grouped(tokens).length)) + 2;
  const tokensOf = (tokens: number) => grouped(tokens).padStart(width);
  return [
    [["strong", `${counted(files.length, "file")} below ${root}`]],
    ...files.map(({ path, level, reason, tokens, truncated, watchedBy, overridden }): Line => {
      const why = reason === "watched" ? `watched by ${(watchedBy ?? []).join(", ")}` : reasons[reason];
      const gone = overridden?.length ? `, ${counted(overridden.length, "bullet")} said again further down` : "";
      return [
        `${tokensOf(tokens)}  ${path} `,
        ["faint", `(${level === "root" ? "the root, " : ""}${why}${gone})`],
        truncated ? ["warning", " cut: only its beginning is there"] : "",
      ];
    }),
    ...omitted.map(({ path, tokens }): Line => [
      `${tokensOf(tokens)}  ${path} `,
      ["warning", "left out: nothing of it fits"],
    ]),
    tokensLine({ total, tokenizer, ...(tokenizerError === undefined ? {} : { tokenizerError }) }, maxTokens),
    ...diagnosticLines(diagnostics),
  ];
}

async function listed(root: string, progress: Host["progress"]): Promise<Outcome> {
  const { area } = await openArea("folders");
  const { folders, diagnostics } = area.discoverContextFolders(filesBelow(root, progress).map(({ path }) => path));
  return {
    result: folders.map(({ path, file }) => `${path || "."}\t${file}\n`).join(""),
    named: { folders },
    report: { root, diagnostics },
    lines: [[["strong", `${counted(folders.length, "folder")} below ${root}`]], ...diagnosticLines(diagnostics)],
  };
}

async function told(root: string, changed: readonly string[], progress: Host["progress"]): Promise<Outcome> {
  const { area } = await openArea("folders");
  const paths = changed.map((path) => below(root, resolve(path)));
  const found = area.bubble(paths, filesBelow(root, progress));
  return {
    result: found.map(({ path, depth }) => `${depth}\t${path}\n`).join(""),
    named: { told: found },
    report: { root },
    lines: found.map(({ path, because }): Line => {
      const why = because.map(({ path, patterns }) => `${path} (${patterns.join(", ")})`).join(", ");
      return [`${path} watches `, ["faint", why]];
    }),
  };
}
