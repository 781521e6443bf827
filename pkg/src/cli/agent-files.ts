/** Context files as agents load them, from the disk. */

import { readdirSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve, sep } from "node:path";
import type { AgentFileFound, AgentFilesChain, AgentPiece, ExplainedAgentFile } from "../types/agent-files.js";
import { openArea } from "./areas.js";
import type { Outcome } from "./command.js";
import { misused } from "./failure.js";
import { hostPath } from "./files.js";
import { given, readFile } from "./input.js";
import type { Line } from "./output.js";
import { counted, diagnosticLines, grouped, tokensLine } from "./report.js";

/** What the command passes on. */
export interface AgentFilesInput {
  agent: string;
  paths: readonly string[];
  explain: boolean;
  root?: string;
  maxTokens?: number;
  tokenizer?: string;
}

/** The files that one agent reads to work on the paths, or a table of all agents. */
export async function agentFiles(input: AgentFilesInput): Promise<Outcome> {
  const { agent, paths, explain, root, maxTokens, tokenizer: name } = input;
  const { area, tokenizer } = await openArea("folders", name);
  const load = (agent: string): Promise<AgentFilesChain> =>
    area.loadAgentFiles(
      {
        agent,
        cwd: hostPath(process.cwd()),
        home: hostPath(homedir()),
        access: paths.map((path) => ({ path: hostPath(resolve(path)) })),
        ...given({ root: root === undefined ? undefined : hostPath(resolve(root)), maxTokens, tokenizer }),
      },
      look,
    );
  if (explain) {
    if (agent === "all") throw misused("`--explain` is for one agent; name it with `--agent`");
    const chain = await load(agent);
    const about = paths.map((path) => ({ path, files: area.explainAgentFiles(chain, hostPath(resolve(path))) }));
    return explained(chain, about);
  }
  if (agent !== "all") return oneAgent(await load(agent), maxTokens);
  const chains: AgentFilesChain[] = [];
  for (const { name } of area.agentPresets()) chains.push(await load(name));
  return allAgents(chains);
}

function oneAgent(chain: AgentFilesChain, maxTokens: number | undefined): Outcome {
  const { messages, pieces, losses, totalTokens: total, tokenizer, tokenizerError, diagnostics } = chain;
  const width = Math.max(0, ...pieces.map(({ tokens }) => grouped(tokens).length)) + 2;
  return {
    result: messages.map(({ text }) => (text.endsWith("\n") ? text : `${text}\n`)).join("\n"),
    named: { messages },
    report: { ...chain },
    lines: [
      [["strong", `${chain.agent} reads ${counted(pieces.length, "text")}`]],
      ...pieces.map((piece): Line => [
        `${grouped(piece.tokens).padStart(width)}  ${shown(piece.path)} `,
        ["faint", `(${placeOf(piece)})`],
        piece.truncated ? ["warning", " truncated"] : "",
      ]),
      ...losses.map(({ path, bytes, reason }): Line => [
        `${" ".repeat(width)}  ${shown(path)} `,
        ["warning", `${counted(bytes, "byte")} lost (${reason})`],
      ]),
      tokensLine({ total, tokenizer, ...(tokenizerError === undefined ? {} : { tokenizerError }) }, maxTokens),
      ...diagnosticLines(diagnostics),
    ],
  };
}

/** Per path, one line for each file that the agent looked at. */
function explained(chain: AgentFilesChain, about: readonly { path: string; files: ExplainedAgentFile[] }[]): Outcome {
  const line = (path: string, { outcome, file, because }: ExplainedAgentFile) =>
    `${path}\t${outcome}\t${shown(file)}\t${because}\n`;
  return {
    result: about.flatMap(({ path, files }) => files.map((file) => line(path, file))).join(""),
    named: { explained: about },
    report: { agent: chain.agent, diagnostics: chain.diagnostics },
    lines: [[["strong", `files of ${chain.agent}`]], ...diagnosticLines(chain.diagnostics)],
  };
}

/** One line per agent and file, so that the lines of an agent can be compared with those of another. */
function allAgents(chains: readonly AgentFilesChain[]): Outcome {
  const line = ({ agent }: AgentFilesChain, piece: AgentPiece) => `${agent}\t${shown(piece.path)}\t${placeOf(piece)}\n`;
  return {
    result: chains.flatMap((chain) => chain.pieces.map((piece) => line(chain, piece))).join(""),
    named: { agents: chains },
    report: {},
    lines: chains.map(({ agent, pieces, totalTokens, losses, verified }): Line => [
      ["strong", agent],
      ` reads ${counted(pieces.length, "text")}, ${counted(totalTokens, "token")}`,
      losses.length > 0 ? ["warning", `, loses text of ${counted(losses.length, "file")}`] : "",
      verified ? "" : ["faint", " (not verified)"],
    ]),
  };
}

const placeOf = ({ step, placement, importedBy }: AgentPiece): string =>
  `${step === 0 ? "start" : "access"}, ${placement}${importedBy === undefined ? "" : `, imported by ${shown(importedBy)}`}`;

/** The path as people write it: below the working folder or the home folder. */
function shown(path: string): string {
  const [here, home] = [hostPath(process.cwd()), hostPath(homedir())];
  if (path.startsWith(`${here}/`)) return path.slice(here.length + 1);
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

function look(path: string): AgentFileFound {
  const native = sep === "/" ? path : path.slice(1).replaceAll("/", sep);
  const found = statSync(native, { throwIfNoEntry: false });
  if (found?.isDirectory()) return { entries: readdirSync(native) };
  return found?.isFile() ? { content: readFile(native), realPath: hostPath(realpathSync(native)) } : null;
}
