/** `ctxweave folders convert`: the rules of one agent for another. */

import type { RuleChange } from "../types/agent-files.js";
import { openArea } from "./areas.js";
import { choice, text } from "./arguments.js";
import { command, type Outcome } from "./command.js";
import { misused, unusable } from "./failure.js";
import { hostPath, oneFolder, pathsBelow } from "./files.js";
import { given, readFile } from "./input.js";
import type { Line } from "./output.js";
import { counted, diagnosticLines } from "./report.js";

export const folderRules = command({
  name: "folders convert",
  summary: "convert the rules of one agent for another",
  usage: "[FOLDER] --from NAME --to NAME [options]",
  about: `FOLDER is a repository (default: the current one). The rules of the agent \`--from\`, such as \`.cursor/rules\`, are
    written for the agent \`--to\`: as JSON, or with \`--out DIR\` as files below DIR. The report lists every change of
    meaning: rules that now always apply, patterns that match more or less.`,
  options: {
    from: text("NAME", "agent that the rules are written for: `cursor`, `claude-code`, …"),
    to: text("NAME", "agent to write them for"),
    fallback: choice(["always", "omit"], "how to write a rule whose mode the target lacks (default `always`)"),
  },
  examples: [
    {
      description: "from Cursor to Claude Code",
      line: "npx ctxweave folders convert --from cursor --to claude-code --out .",
    },
    {
      description: "files and changes as JSON",
      line: "npx ctxweave folders convert --from cursor --to copilot-cli --json",
    },
  ],
  async run({ from, to, fallback }, operands, { progress }): Promise<Outcome> {
    if (from === undefined || to === undefined) throw misused("give both agents: `--from NAME --to NAME`");
    const root = oneFolder(operands);
    const { area } = await openArea("folders");
    const folders = area.agentPresets().find(({ name }) => from.split("@")[0] === name)?.rules ?? [];
    const isRule = (path: string) => folders.some((folder) => `/${path}`.includes(`/${folder}/`));
    const paths = pathsBelow(root, progress).filter(isRule);
    const top = hostPath(root);
    const { files, rules, changes, ignored, diagnostics } = area.convertRules(
      paths.map((path) => ({ path: `${top}/${path}`, content: readFile(`${root}/${path}`) })),
      { from, to, root: top, ...given({ fallback: fallback as "always" | "omit" | undefined }) },
    );
    if (paths.length === 0) throw unusable(`no rules of \`${from}\` below \`${root}\`; it reads ${folders.join(", ")}`);
    const local = (path: string) => path.slice(top.length + 1);
    const relative = files.map(({ path, content }) => ({ path: local(path), content }));
    const unchanged = rules.filter((rule) => rule.changes.length === 0).length;
    return {
      result: `${JSON.stringify(relative, null, 2)}\n`,
      folder: relative,
      named: { files: relative },
      report: { root, rules, changes, ignored, diagnostics },
      lines: [
        [["strong", `${from} → ${to}`], `: ${counted(files.length, "file")}, ${unchanged} unchanged in meaning`],
        ...rules.flatMap((rule) => rule.changes.map((change) => changeLine(change, local(rule.path)))),
        ...changes.map((change) => changeLine(change)),
        ...ignored.map((path): Line => [["faint", `info: not a rule of the agent (${local(path)})`]]),
        ...diagnosticLines(diagnostics),
      ],
    };
  },
});

const changeLine = ({ severity, message }: RuleChange, path?: string): Line => [
  [severity === "info" ? "faint" : "warning", severity],
  `: ${message}`,
  path === undefined ? "" : ["faint", ` (${path})`],
];
