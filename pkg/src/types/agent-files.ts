/** Context files and rules, as each agent loads them: input and output types. docs/agent-files.md has the rules. */

import type { Diagnostic, DiagnosticCode, Limits, OwnTokenizer, Tokenizer, WithUnknownFields } from "./common.js";
import type { FileContent } from "./workspace.js";

/** An agent that has a preset. */
export interface AgentPreset {
  name: string;
  /** The version that was run, or the documentation that was read. */
  version: string;
  /** The date of that version. */
  date: string;
  /** Whether the preset reproduces recorded runs of the agent. */
  verified: boolean;
  /** Settings of the agent that change what it loads; the first is the default. */
  variants: string[];
  /** Its folders of rules in a project, the first one first: `.claude/rules`. */
  rules: string[];
}

/** What the host found at a path. */
export type AgentFile =
  | {
      /** Absolute, with `/`. */
      path: string;
      content: FileContent;
      /** The path without symbolic links. */
      realPath?: string | undefined;
    }
  | { path: string; entries: readonly string[] }
  | { path: string; missing: true };

/** A path that the agent accesses after its start. */
export interface AgentAccess {
  path: string;
  /** Default `read`. `skill` requests the body of the skill with this `SKILL.md`. */
  verb?: "read" | "write" | "shell" | "skill" | undefined;
}

/** What happened since a load: a further access, or a file that changed on disk. */
export type AgentFileEvent = AgentAccess | { path: string; verb: "changed" };

/** Token budgets below `maxTokens`. */
export interface AgentFilesBudget {
  /** For one text; a longer one is cut at a line end and ends with a marker. */
  file?: number | undefined;
  /** For all texts of the administrator's files. */
  managed?: number | undefined;
  home?: number | undefined;
  project?: number | undefined;
  /** For names and descriptions of skills. */
  skills?: number | undefined;
}

/** What to load, and for which agent. */
export interface AgentFilesRequest {
  /** The name of a preset, also with its version: `claude-code`, `codex@0.169.0`. */
  agent: string;
  /** One of the preset's variants. */
  variant?: string | undefined;
  /** Fields that replace those of the preset. */
  preset?: Record<string, unknown> | undefined;
  /** The folder in which the agent starts. Absolute, with `/`, like all paths. */
  cwd: string;
  /** The user's home folder; without it no home files are loaded. */
  home?: string | undefined;
  /** The project's root. Default: the nearest folder with a marker of the preset, such as `.git`. */
  root?: string | undefined;
  /** What the agent accesses after its start, in order. */
  access?: readonly AgentAccess[] | undefined;
  /** All files that exist. Without it the result lists the paths to look at. */
  files?: readonly WithUnknownFields<AgentFile>[] | undefined;
  /** Whether the user trusts the project. Default true. */
  trusted?: boolean | undefined;
  /** Whether imports from outside their folder are approved. Default false. */
  approveImports?: boolean | undefined;
  /** Token budget for the texts of all pieces. */
  maxTokens?: number | undefined;
  /** Token budgets for each text, and for all texts of a level. */
  budget?: AgentFilesBudget | undefined;
  /** Default `heuristic`. */
  tokenizer?: Tokenizer | OwnTokenizer | undefined;
  limits?: Limits | undefined;
}

/** Where the agent puts a text: the system instruction, the first user message, a tool's result, or a separate message. */
export type AgentPlacement = "system" | "user" | "tool" | "message";

export type AgentFileKind = "context" | "rule" | "import" | "skill";

/** The kind of a piece: a skill is its name and description, until its body is requested. */
export type AgentPieceKind = AgentFileKind | "skillBody";

/** A loaded text. */
export interface AgentPiece {
  path: string;
  /** 0 for the start, then the number of the access. */
  step: number;
  kind: AgentPieceKind;
  scope: "managed" | "home" | "project";
  placement: AgentPlacement;
  /** The file that imports it. */
  importedBy?: string;
  /** The part of the preset that loads it. */
  setting: string;
  /** Its text with imports expanded, as the agent reads it. */
  text: string;
  tokens: number;
  /** Whether the agent's own limit, or `budget.file`, cuts it. */
  truncated: boolean;
}

/** Outcome for a file; docs/agent-files.md has the meanings. */
export type AgentFileOutcome =
  | "loaded"
  | "shadowed"
  | "blank"
  | "duplicate"
  | "sameText"
  | "untrusted"
  | "tooLarge"
  | "linkText"
  | "capped"
  | "overBudget"
  | "waiting"
  | "onRequest"
  | "manual"
  | "never"
  | "notListed"
  | "missing"
  | "outside"
  | "tooDeep"
  | "cyclic"
  | "notText";

/** A file that was looked at, and the outcome. */
export interface AgentFileDecision {
  path: string;
  kind: AgentPieceKind;
  outcome: AgentFileOutcome;
  /** When it was loaded. */
  step?: number;
  /** The part of the preset that concerns it. */
  setting: string;
  /** The file that shadows it, imports it or was loaded in its place. */
  by?: string;
  /** The key of its front matter that decided. */
  key?: string;
  /** The patterns it waits for. */
  patterns?: string[];
  /** The folder that the patterns are relative to. */
  base?: string;
  dialect?: "gitignore" | "picomatch" | "copilot";
}

/** Text that the agent, or the budget, leaves out. */
export interface AgentFileLoss {
  path: string;
  reason: "cap" | "tooLarge" | "linkText" | "budget";
  bytes: number;
  tokens?: number;
}

/** What an agent reads. */
export interface AgentFilesChain {
  /** Name and version of the preset. */
  agent: string;
  verified: boolean;
  variant?: string;
  root: string;
  /** In the order of the prompt. Pieces of a later access follow those of earlier ones. */
  pieces: AgentPiece[];
  /** The texts as the agent sends them: pieces of one step and placement, with its frame. */
  messages: { step: number; placement: AgentPlacement; text: string }[];
  totalTokens: number;
  tokenizer: string;
  /** Error bound of the counts in percent: for estimates of a family without a public tokenizer. */
  tokenizerError?: number;
  losses: AgentFileLoss[];
  decisions: AgentFileDecision[];
  /** The kinds of access after which the agent loads more. */
  verbs: string[];
  /** The request without its files, for `newSince`. */
  request: unknown;
  diagnostics: Diagnostic[];
}

/** The state of an unfinished load, for `finishAgentFiles`. */
export interface AgentFilesState {
  request: unknown;
  files: unknown[];
  /** The pieces of the load that `newSince` continues. */
  since?: unknown[];
}

/** The result, or the paths to look at next. */
export type AgentFilesPlan =
  { status: "ready"; result: AgentFilesChain } | { status: "read"; paths: string[]; state: AgentFilesState };

/** A continued load with its changes, or the paths to look at next. */
export type NewAgentFilesPlan =
  | ({ status: "ready"; result: AgentFilesChain } & AgentFileChanges)
  | { status: "read"; paths: string[]; state: NewAgentFilesState };

/** The state of an unfinished `newSince`, for `finishAgentFiles`. */
export type NewAgentFilesState = AgentFilesState & { since: unknown[] };

/** What the host finds at a path: a file's content, a folder's names, or null if nothing is there. */
export type AgentFileFound =
  FileContent | { content: FileContent; realPath?: string } | { entries: readonly string[] } | null | undefined;

/** Looks at a path of the host. */
export type ReadAgentFile = (path: string) => AgentFileFound | PromiseLike<AgentFileFound>;

/** Options of `finishAgentFiles`. */
export interface FinishAgentFilesOptions {
  /** A custom tokenizer, which the state does not keep. */
  tokenizer?: Tokenizer | OwnTokenizer | undefined;
}

/** The files and options of `newSince`. */
export interface NewSinceOptions extends FinishAgentFilesOptions {
  /** All files that exist now. Without it the result lists the paths to look at. */
  files?: readonly AgentFile[] | undefined;
}

/** The difference between two loads. */
export interface AgentFileChanges {
  /** Pieces to append to the prompt. */
  append: AgentPiece[];
  /** Pieces in the prompt whose file changed or is gone. */
  stale: AgentPiece[];
}

/** Outcome for a file, with regard to a path. */
export interface ExplainedAgentFile {
  file: string;
  kind: AgentPieceKind;
  outcome: AgentFileOutcome;
  loaded: boolean;
  /** Whether an access to the path loads it. */
  loadsOnAccess: boolean;
  step?: number;
  setting: string;
  /** The pattern that matches the path. */
  pattern?: string;
  /** The reason, as a phrase. */
  because: string;
}

/** Options of `convertRules`. */
export interface ConvertRulesOptions {
  /** The agent that the rules are written for: the name of a preset with rules. */
  from: string;
  /** The agent to write them for. */
  to: string;
  /** The project's root. Default: the folder that holds the folder of rules nearest to `/`. */
  root?: string | undefined;
  /** How to write a rule whose mode the target lacks: `always` applies it always (the default), `omit` leaves it out. */
  fallback?: "always" | "omit" | undefined;
  limits?: Limits | undefined;
}

/** When a rule applies. */
export interface RuleActivation {
  mode: "always" | "matching" | "onRequest" | "manual" | "never";
  /** The patterns of a `matching` rule. */
  patterns?: string[];
  /** The folder that the patterns are relative to. */
  base?: string;
  dialect?: "gitignore" | "picomatch" | "copilot";
}

/** A change of meaning. docs/rules.md has the codes. */
export interface RuleChange {
  code:
    | "activation"
    | "omitted"
    | "wider"
    | "narrower"
    | "differs"
    | "neverMatches"
    | "imports"
    | "description"
    | "frontMatter"
    | "key"
    | "tooLong"
    | "verbs"
    | "case"
    | "start";
  severity: Diagnostic["severity"];
  message: string;
  /** The pattern that it concerns, as written for the source. */
  pattern?: string;
}

/** A rule, and the changes to its meaning. */
export interface ConvertedRule {
  path: string;
  /** The path of the new rule; absent if the rule is left out. */
  to?: string;
  before: RuleActivation;
  after: RuleActivation;
  /** Empty if the rule means the same. */
  changes: RuleChange[];
}

/** Converted rules, and every change of meaning. */
export interface RuleConversion {
  /** Name and version of the presets. */
  from: string;
  to: string;
  root: string;
  /** The rules to write. */
  files: { path: string; content: string }[];
  rules: ConvertedRule[];
  /** Changes that concern all rules. */
  changes: RuleChange[];
  /** Files that are not rules of the source agent. */
  ignored: string[];
  diagnostics: Diagnostic[];
}

/** Options of `lintAgentFiles`. */
export interface LintAgentFilesOptions {
  /** The agents that have to read the files. */
  agents: readonly string[];
  /** The project's root. Default: the folder of the file nearest to `/`. */
  root?: string | undefined;
  /** The user's home folder; without it no home files are read. */
  home?: string | undefined;
  /** All paths of the project. With them, rules that match none of these are reported. */
  paths?: readonly string[] | undefined;
  limits?: Limits | undefined;
}

/** A mistake in a context file or rule. docs/rules.md has the codes. */
export interface AgentFileFinding {
  code: DiagnosticCode;
  severity: Diagnostic["severity"];
  message: string;
  path: string;
  /** From 1. */
  line: number;
  /** The agents that it concerns; empty for a file that none of them reads. */
  agents: string[];
  /** The other place of a repetition or contradiction. */
  related?: { path: string; line: number };
}

/** All findings, by path and line. */
export interface AgentFilesLint {
  /** Name and version of the presets. */
  agents: string[];
  root: string;
  findings: AgentFileFinding[];
  errors: number;
  warnings: number;
  diagnostics: Diagnostic[];
}
