/** `ctxweave folders lint`: mistakes in context files and rules. */

import type { AgentFileFinding } from "../types/agent-files.js";
import { openArea } from "./areas.js";
import { flag, list } from "./arguments.js";
import { command, type Outcome } from "./command.js";
import { exits } from "./failure.js";
import { hostPath, oneFolder, pathsBelow } from "./files.js";
import { readFile } from "./input.js";
import { counted, diagnosticLines } from "./report.js";

/** Names of files whose text agents read. Of others it only matters that they exist. */
const READ = /(\.(md|mdc|txt|MD)|^opencode\.json|rules|hints)$/;

export const folderLint = command({
  name: "folders lint",
  summary: "check context files and rules for agents",
  usage: "[FOLDER] [--agent NAME]... [options]",
  about: `FOLDER is a repository (default: the current one). The output has one line per finding: broken imports, rules that
    never match, files that no agent reads, text over a limit, repetitions and contradictions. The exit code is 1 if an
    error was found; with \`--strict\` also for a warning.`,
  options: {
    agent: list("NAME", "agent that has to read the files (default: every agent)"),
    strict: flag("fail on warnings, too"),
  },
  examples: [
    { description: "in CI", line: "npx ctxweave folders lint --agent claude-code --agent codex" },
    { description: "warnings fail, too", line: "npx ctxweave folders lint --agent cursor --strict" },
  ],
  async run({ agent, strict }, operands, { progress }): Promise<Outcome> {
    const root = oneFolder(operands);
    const { area } = await openArea("folders");
    const agents = agent.length > 0 ? agent : area.agentPresets().map(({ name }) => name);
    const paths = pathsBelow(root, progress);
    const isRead = (path: string) => READ.test(path.slice(path.lastIndexOf("/") + 1));
    const top = hostPath(root);
    const local = (path: string) => path.slice(top.length + 1);
    progress(`checking ${counted(paths.length, "file")}`);
    const { findings, errors, warnings, diagnostics } = area.lintAgentFiles(
      paths.map((path) => ({ path: `${top}/${path}`, content: isRead(path) ? readFile(`${root}/${path}`) : "" })),
      { agents, root: top, paths: paths.map((path) => `${top}/${path}`), limits: { contextFiles: paths.length + 1 } },
    );
    const found = findings.map(({ path, related, ...finding }) => ({
      ...finding,
      path: local(path),
      ...(related && { related: { ...related, path: local(related.path) } }),
    }));
    return {
      result: found.map(lineOf).join(""),
      named: { findings: found },
      report: { root, agents, errors, warnings, diagnostics },
      lines: [
        [
          ["strong", `${counted(errors, "error")}, ${counted(warnings, "warning")}`],
          ` in ${counted(paths.length, "file")}`,
        ],
        ...diagnosticLines(diagnostics),
      ],
      exit: errors > 0 || (strict && warnings > 0) ? exits.input : exits.done,
    };
  },
});

function lineOf({ path, line, severity, code, message, related }: Omit<AgentFileFinding, "agents">): string {
  const other = related === undefined ? "" : ` (${related.path}:${related.line})`;
  return `${path}:${line}: ${severity} ${code}: ${message}${other}\n`;
}
