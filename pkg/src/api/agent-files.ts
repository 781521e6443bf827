/** Context files and rules, as each agent loads them. */

import { callJson } from "../call.js";
import { guarded, reasonOf } from "../source.js";
import type {
  AgentFile,
  AgentFileChanges,
  AgentFileEvent,
  AgentFileFound,
  AgentFilesChain,
  AgentFilesLint,
  AgentFilesPlan,
  AgentFilesRequest,
  AgentFilesState,
  AgentPreset,
  ConvertRulesOptions,
  ExplainedAgentFile,
  FinishAgentFilesOptions,
  LintAgentFilesOptions,
  NewAgentFilesPlan,
  NewAgentFilesState,
  NewSinceOptions,
  ReadAgentFile,
  RuleConversion,
} from "../types/agent-files.js";
import type { FileContent } from "../types/workspace.js";
import type { DriverOptions, ReadonlyData } from "../types/common.js";
import { checkedSignal, raceAbort } from "./abort.js";
import { checkedObject, checkedOptions, invalid } from "./checked.js";

/** The agents that have a preset. */
export function agentPresets(): AgentPreset[] {
  return callJson("agentPresets", {}) as AgentPreset[];
}

/**
 * Begins to load what an agent reads. The result is ready, or lists the paths to look at; what is found there is passed
 * to {@link finishAgentFiles} with the `state`. See docs/agent-files.md.
 *
 * @throws {CtxweaveError} `unknown_value` for an unknown agent; the codes in docs/errors.md
 */
export function planAgentFiles(request: ReadonlyData<AgentFilesRequest>): AgentFilesPlan {
  return callJson("planAgentFiles", request) as AgentFilesPlan;
}

/**
 * Continues with what the host found. A custom tokenizer must be passed again in `options`.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function finishAgentFiles(
  state: NewAgentFilesState,
  files: readonly ReadonlyData<AgentFile>[],
  options?: FinishAgentFilesOptions,
): NewAgentFilesPlan;
export function finishAgentFiles(
  state: AgentFilesState,
  files: readonly ReadonlyData<AgentFile>[],
  options?: FinishAgentFilesOptions,
): AgentFilesPlan;
export function finishAgentFiles(
  state: AgentFilesState,
  files: readonly ReadonlyData<AgentFile>[],
  options?: FinishAgentFilesOptions,
): AgentFilesPlan {
  return callJson("finishAgentFiles", { state, files, options }) as AgentFilesPlan;
}

/**
 * Loads what an agent reads. `read` looks at a path of the host; if it throws, the file counts as missing, with a
 * diagnostic.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md; the signal's reason when it is aborted
 */
export async function loadAgentFiles(
  request: ReadonlyData<AgentFilesRequest>,
  read: ReadAgentFile,
  options: DriverOptions = {},
): Promise<AgentFilesChain> {
  const signal = checkedSignal(checkedOptions(options, ["signal"]).signal);
  if (typeof read !== "function") throw invalid("read", "a function");
  checkedObject(request, "request");
  const tokenizer = guarded("request.tokenizer", () => request.tokenizer);
  let plan = planAgentFiles(request);
  while (plan.status === "read") {
    const files = await raceAbort(Promise.all(plan.paths.map((path) => look(path, read))), signal);
    plan = finishAgentFiles(plan.state, files, tokenizer === undefined ? undefined : { tokenizer });
  }
  return plan.result;
}

async function look(path: string, read: ReadAgentFile): Promise<AgentFile> {
  try {
    return entry(path, await read(path));
  } catch (thrown) {
    return { path, content: { unreadable: reasonOf(thrown) } };
  }
}

function entry(path: string, found: AgentFileFound): AgentFile {
  if (found === null || found === undefined) return { path, missing: true };
  // Bytes have a method `entries`.
  if (typeof found === "object" && "entries" in found && Array.isArray(found.entries)) {
    return { path, entries: found.entries as string[] };
  }
  if (typeof found === "object" && "content" in found) return { path, ...found };
  return { path, content: found as FileContent };
}

/**
 * Continues a load after an access, a request for the body of a skill, or a change on disk: the pieces to append, and
 * those that are stale. The result is ready, or lists the paths to look at; what
 * is found there is passed to {@link finishAgentFiles}. With a later chain instead of an access, compares the two.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function newSince(
  chain: ReadonlyData<Pick<AgentFilesChain, "pieces">>,
  after: ReadonlyData<Pick<AgentFilesChain, "pieces">>,
): AgentFileChanges;
export function newSince(
  chain: ReadonlyData<Pick<AgentFilesChain, "pieces" | "request">>,
  access: ReadonlyData<AgentFileEvent> | readonly ReadonlyData<AgentFileEvent>[],
  options?: ReadonlyData<NewSinceOptions>,
): NewAgentFilesPlan;
export function newSince(
  chain: ReadonlyData<Pick<AgentFilesChain, "pieces"> & Partial<Pick<AgentFilesChain, "request">>>,
  next: unknown,
  options: ReadonlyData<NewSinceOptions> = {},
): AgentFileChanges | NewAgentFilesPlan {
  checkedObject(chain, "chain");
  const given = checkedOptions(options, ["files", "tokenizer"]);
  const { pieces, request } = guarded("chain", () => ({ pieces: chain.pieces, request: chain.request }));
  return callJson("newSince", { chain: { pieces, request }, next, options: given }) as
    AgentFileChanges | NewAgentFilesPlan;
}

/**
 * Explains for every context file, rule, import and skill that a load looked at whether it is loaded, when, and which
 * setting decided. Rules are matched against `path`.
 */
export function explainAgentFiles(
  chain: ReadonlyData<Pick<AgentFilesChain, "decisions" | "verbs">>,
  path: string,
): ExplainedAgentFile[] {
  checkedObject(chain, "chain");
  const { decisions, verbs } = guarded("chain", () => ({ decisions: chain.decisions, verbs: chain.verbs }));
  return callJson("explainAgentFiles", { chain: { decisions, verbs }, path }) as ExplainedAgentFile[];
}

/**
 * Converts the rules of one agent for another: `.cursor/rules` to `.claude/rules`, and so on. The report has every change
 * of meaning. Other files are ignored. See docs/rules.md.
 *
 * @throws {CtxweaveError} `unknown_value` for an agent without rules; the codes in docs/errors.md
 */
export function convertRules(
  files: readonly ReadonlyData<AgentFile>[],
  options: ReadonlyData<ConvertRulesOptions>,
): RuleConversion {
  return callJson("convertRules", { files, options }) as RuleConversion;
}

/**
 * Checks context files and rules for the agents that have to read them: broken imports, rules that never match, files that
 * no agent reads, text over a limit, repetitions and contradictions. See docs/rules.md.
 *
 * @throws {CtxweaveError} `unknown_value` for an unknown agent; the codes in docs/errors.md
 */
export function lintAgentFiles(
  files: readonly ReadonlyData<AgentFile>[],
  options: ReadonlyData<LintAgentFilesOptions>,
): AgentFilesLint {
  return callJson("lintAgentFiles", { files, options }) as AgentFilesLint;
}
