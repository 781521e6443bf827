/** `ctxweave folders`: the AGENTS.md and CLAUDE.md files that apply to a file, as one prompt section. */

import { resolve } from "node:path";
import type { ChainRequest, ContextChain, ContextFile } from "../types/folders.js";
import { agentFiles } from "./agent-files.js";
import { openArea, tokenizerOption } from "./areas.js";
import { choice, count, flag, list, text } from "./arguments.js";
import { command, type Host, type Outcome } from "./command.js";
import { misused, unusable } from "./failure.js";
import { below, filesBelow, filesIn, folderOf, rootOf, upwards } from "./files.js";
import { given } from "./input.js";
import type { Line } from "./output.js";
import { counted, diagnosticLines, grouped, tokensLine } from "./report.js";

export const folders = command({
  name: "folders",
  summary: "load the AGENTS.md and CLAUDE.md files that apply to a file",
  usage: "(--for PATH | FOLDER... | --list | --changed PATH)",
  about: `\`--for\` loads the AGENTS.md, or else the CLAUDE.md, of the file's folder and of every folder above, up to the root
    of the repository. FOLDERs load their own files and the ancestors that these watch. Over \`--max-tokens\`, the file
    nearest to the work is cut last.`,
  options: {
    for: list("PATH", "file or folder to work on; need not exist"),
    root: text("FOLDER", "root of the chain; default: the nearest folder with `.git`, else the current one"),
    agent: text("NAME", "with `--for`: load what this agent reads when it accesses PATH; `all` compares the agents"),
    explain: flag("with `--agent`: list every file that the agent looks at, and why it reads it or not"),
    "max-tokens": count("N", "budget for the contents of all files together"),
    tokenizer: tokenizerOption,
    watched: choice(["ancestors", "all", "none"], "watched files to load as well (default `ancestors`)"),
    list: flag("list the folders with a context file"),
    changed: list("PATH", "list the files that watch this one, transitively"),
  },
  examples: [
    {
      description: "the context of one file",
      line: "npx ctxweave folders --for src/main.rs",
    },
    {
      description: "what Claude Code reads when it starts here and opens a file",
      line: "npx ctxweave folders --for src/main.rs --agent claude-code",
    },
    { description: "in at most 50 tokens", line: "npx ctxweave folders --for src/main.rs --max-tokens 50" },
    {
      description: "why it reads a file or not",
      line: "npx ctxweave folders --for src/main.rs --agent claude-code --explain",
    },
    { description: "what each agent reads", line: "npx ctxweave folders --for src/main.rs --agent all" },
    {
      description: "prompt, files and token costs as JSON",
      line: "npx ctxweave folders --for src/main.rs --json > chain.json",
    },
    { description: "the folders with a context file", line: "npx ctxweave folders --list" },
    { description: "folders, and the files that they watch", line: "npx ctxweave folders src docs --watched all" },
    { description: "the files that depend on a changed one", line: "npx ctxweave folders --changed src/AGENTS.md" },
  ],
  async run(values, operands, { progress }): Promise<Outcome> {
    const wanted = [operands, values.for, values.changed, values.list ? [true] : []].filter((list) => list.length > 0);
    if (wanted.length !== 1) throw misused("give exactly one of `--for PATH`, FOLDERs, `--list` and `--changed PATH`");
    if (values.agent !== undefined) {
      const { agent, explain, for: paths, root, "max-tokens": maxTokens, tokenizer } = values;
      if (paths.length === 0) throw misused("`--agent` needs `--for PATH`, a file that the agent accesses");
      if (values.watched !== undefined) throw misused("`--watched` has no meaning with `--agent`; remove it");
      return agentFiles({ agent, paths, explain, ...given({ root, maxTokens, tokenizer }) });
    }
    if (values.explain) throw misused("`--explain` needs `--agent NAME`, whose files to explain");
    if (values.list) return listed(rootFor(values.root, "."), progress);
    if (values.changed.length > 0) return notified(rootFor(values.root, values.changed[0]), values.changed, progress);

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

/** Selected folders, and the files that suffice for them. */
interface Chosen {
  selected: string[];
  files?: ContextFile[];
}

/** The chain of each path, from its folder or the nearest one above with a file. */
function chainOf(root: string, paths: readonly string[]): Chosen {
  const files = new Map<string, ContextFile>();
  const selected = new Set<string>();
  for (const path of paths) {
    const folder = folderOf(path);
    below(root, folder);
    const chain = upwards(folder, root).map((above) => ({ above, found: filesIn(root, above) }));
    const nearest = chain.find(({ found }) => found.length > 0);
    if (!nearest) throw unusable(`no AGENTS.md and no CLAUDE.md between \`${folder}\` and \`${root}\``);
    selected.add(below(root, nearest.above));
    for (const file of chain.flatMap(({ found }) => found)) files.set(file.path, file);
  }
  return { selected: [...selected], files: [...files.values()] };
}

/** The folders as given. Their watches may match files anywhere. */
function selectionOf(root: string, paths: readonly string[]): Chosen {
  return { selected: paths.map((path) => below(root, resolve(path))) };
}

const reasons = { selected: "selected", ancestor: "ancestor", workingDirectory: "working directory" };

/** Loaded, truncated and omitted files, in the order of the prompt. */
function chainLines(root: string, chain: ContextChain, maxTokens: number | undefined): Line[] {
  const { files, omitted, totalTokens: total, tokenizer, tokenizerError, diagnostics } = chain;
  const all = [...files.map(({ tokens }) => tokens), ...omitted.map(({ tokens }) => tokens)];
  const width = Math.max(0, ...all.map((tokens) => grouped(tokens).length)) + 2;
  const tokensOf = (tokens: number) => grouped(tokens).padStart(width);
  return [
    [["strong", `${counted(files.length, "file")} below ${root}`]],
    ...files.map(({ path, level, reason, tokens, truncated, watchedBy, overridden }): Line => {
      const why = reason === "watched" ? `watched by ${(watchedBy ?? []).join(", ")}` : reasons[reason];
      const repeated = overridden?.length ? `, ${counted(overridden.length, "bullet")} repeated further down` : "";
      return [
        `${tokensOf(tokens)}  ${path} `,
        ["faint", `(${level === "root" ? "root, " : ""}${why}${repeated})`],
        truncated ? ["warning", " truncated"] : "",
      ];
    }),
    ...omitted.map(({ path, tokens }): Line => [
      `${tokensOf(tokens)}  ${path} `,
      ["warning", "omitted: no line of it fits"],
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

async function notified(root: string, changed: readonly string[], progress: Host["progress"]): Promise<Outcome> {
  const { area } = await openArea("folders");
  const paths = changed.map((path) => below(root, resolve(path)));
  const found = area.bubble(paths, filesBelow(root, progress));
  return {
    result: found.map(({ path, depth }) => `${depth}\t${path}\n`).join(""),
    named: { notified: found },
    report: { root },
    lines: found.map(({ path, because }): Line => {
      const why = because.map(({ path, patterns }) => `${path} (${patterns.join(", ")})`).join(", ");
      return [`${path} watches `, ["faint", why]];
    }),
  };
}
