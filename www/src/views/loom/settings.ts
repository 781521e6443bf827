import type {
  AssemblyRequest,
  BufferRequest,
  DialogueRequest,
  LoomTreeData,
  Media,
  Preferences,
  Target,
  TruncationStrategy,
  TargetProvider,
} from "ctxweave/loom";

import { loomAwareOf, type AwareSettings } from "./aware.js";

export type Mode = "dialogue" | "buffer";
export type ProviderName = TargetProvider;

/** All decisions of the user. An absent preference has the tree's value or the default. */
export interface Settings {
  mode: Mode;
  contextWindow: number;
  preferences: Preferences;
  annotations: "none" | "all" | string[];
  /** The target of the prompt: bar, marks, report and body are those of its assembly. */
  provider?: ProviderName;
  /** Its model. Default: a common model of the provider. */
  model?: string;
  /** Cache breakpoints in Anthropic's body. */
  cache?: boolean;
  /** The exact tokenizer; without one the counts are estimates. */
  tokenizer?: PageEncoding;
  instructionScope?: "path" | "generation";
  systemPrompt?: string;
  /** In buffer mode: text that is not yet a node. */
  workingBuffer?: string;
  /** In dialogue mode: a message that is not yet sent. */
  pendingMessage?: string;
  /** Overrides the tree's `bufferModeSystemContext`. */
  bufferSystem?: boolean;
  /** The additions for a loom-aware agent; absent for other agents. */
  aware?: AwareSettings;
  choices: Record<string, string>;
  versions: Record<string, string>;
  /** Node id to exclusion, if it differs from the file. */
  excluded: Record<string, boolean>;
}

export const STRATEGIES: readonly TruncationStrategy[] = ["truncateMiddle", "rollingWindow", "stopAtLimit"];
export type Fill = NonNullable<Preferences["fill"]>;
export const FILLS: readonly Fill[] = ["all", "results", "off"];

export const FILL_NAMES: Record<Fill, string> = {
  all: "Results, then texts",
  results: "Results only",
  off: "Off",
};

type Protect = NonNullable<Preferences["protect"]>;

/** The values of `protect`, by the word in the control and the link. */
export const PROTECTIONS = {
  both: ["firstUser", "lastUser"],
  firstUser: ["firstUser"],
  lastUser: ["lastUser"],
  none: [],
} as const satisfies Record<string, Protect>;

export type Protection = keyof typeof PROTECTIONS;

export const PROTECTION_NAMES: Record<Protection, string> = {
  both: "First and last user message",
  firstUser: "First user message",
  lastUser: "Last user message",
  none: "None",
};

export function protectionOf(protect: Protect): Protection {
  if (!protect.includes("firstUser")) return protect.includes("lastUser") ? "lastUser" : "none";
  return protect.includes("lastUser") ? "both" : "firstUser";
}

export const PROVIDERS: readonly ProviderName[] = [
  "anthropic",
  "openai",
  "openai-responses",
  "gemini",
  "gemini-interactions",
  "completion",
];

/** The initial model of each provider. */
export const FIRST_MODELS: Record<ProviderName, string> = {
  anthropic: "claude-sonnet-4-5",
  openai: "gpt-5",
  "openai-responses": "gpt-5",
  gemini: "gemini-2.5-pro",
  "gemini-interactions": "gemini-2.5-pro",
  completion: "gpt-3.5-turbo-instruct",
};

/** The mode of a provider: plain completion takes a document, all others messages. */
function modeOf(provider: ProviderName): Mode {
  return provider === "completion" ? "buffer" : "dialogue";
}

/** The settings for a provider, or without one. */
export function withProvider(settings: Settings, provider: ProviderName | undefined): Settings {
  const { provider: before, model, ...rest } = settings;
  if (provider === undefined) return rest;
  const named = model !== undefined && before === provider ? { model } : {};
  return { ...rest, ...named, mode: modeOf(provider), provider };
}

/** The settings in a mode; a provider of another mode is removed. */
export function withMode(settings: Settings, mode: Mode): Settings {
  const { provider } = settings;
  const next = provider !== undefined && modeOf(provider) !== mode ? withProvider(settings, undefined) : settings;
  return { ...next, mode };
}

/** The target passed to the library. */
export function targetOf({ provider, model, cache }: Settings): (Target & { model: string }) | undefined {
  if (!provider) return undefined;
  const cached = provider === "anthropic" && cache ? { cache: true } : {};
  return { provider, model: model || FIRST_MODELS[provider], ...cached };
}

/** The encodings offered by the page. */
export type PageEncoding = "o200k_base" | "cl100k_base";

export const ENCODINGS: readonly PageEncoding[] = ["o200k_base", "cl100k_base"];

/** The library's defaults, shown in empty fields. */
type Defaults = Required<Omit<Preferences, "truncationMarker" | "protect">>;

export const DEFAULTS: { [Key in keyof Defaults]: NonNullable<Defaults[Key]> } = {
  truncationStrategy: "truncateMiddle",
  minimumRecentNodes: 4,
  tokenBuffer: 1024,
  cutStep: 0,
  startOn: "any",
  fill: "all",
};

/** The effective value of `protect`, as resolved by the library. */
export function effectiveProtect(settings: Settings, tree: LoomTreeData): Protect {
  const strategy = effective(settings, tree, "truncationStrategy");
  const standard = strategy === "truncateMiddle" ? PROTECTIONS.both : PROTECTIONS.none;
  return settings.preferences.protect ?? tree.preferences?.protect ?? standard;
}

export function defaultMarker(mode: Mode): string {
  return mode === "buffer" ? "\n\n[…]\n\n" : "[… {count} earlier nodes omitted …]";
}

export function freshSettings(contextWindow: number, mode: Mode): Settings {
  return { mode, contextWindow, preferences: {}, annotations: "none", choices: {}, versions: {}, excluded: {} };
}

/** The effective value of a preference, as resolved by the library. */
export function effective<K extends keyof typeof DEFAULTS>(
  settings: Settings,
  tree: LoomTreeData,
  key: K,
): (typeof DEFAULTS)[K] {
  return (settings.preferences[key] ?? tree.preferences?.[key] ?? DEFAULTS[key]) as (typeof DEFAULTS)[K];
}

/** The tree with the user's exclusions. The file's objects are unchanged. */
export function treeWithExclusions(tree: LoomTreeData, excluded: Record<string, boolean>): LoomTreeData {
  if (Object.keys(excluded).length === 0) return tree;
  return {
    ...tree,
    nodes: tree.nodes.map((node) => {
      const override = excluded[node.id];
      return override === undefined ? node : { ...node, metadata: { ...node.metadata, excluded: override } };
    }),
  };
}

/**
 * The request exactly as passed to the library, without unset fields. `tokenizer` is the effective one, which differs
 * from the selected one until its vocabulary is loaded.
 */
export function buildRequest(
  tree: LoomTreeData,
  media: Record<string, Media>,
  tip: string,
  settings: Settings,
  tokenizer: PageEncoding | undefined,
): DialogueRequest | BufferRequest {
  const target = targetOf(settings);
  const request: AssemblyRequest = {
    tree: treeWithExclusions(tree, settings.excluded),
    tip,
    contextWindow: settings.contextWindow,
  };
  if (Object.keys(settings.preferences).length > 0) request.preferences = settings.preferences;
  if (settings.annotations !== "none") request.includeAnnotations = settings.annotations;
  // The target implies the provider, and reports what does not reach it.
  if (target) request.target = target;
  if (tokenizer) request.tokenizer = tokenizer;
  if (settings.instructionScope) request.instructionScope = settings.instructionScope;
  if (settings.systemPrompt) request.agent = { configuration: { systemPrompt: settings.systemPrompt } };
  if (settings.aware) request.loomAware = loomAwareOf(settings.aware);
  if (Object.keys(settings.choices).length > 0) request.choices = settings.choices;
  if (Object.keys(settings.versions).length > 0) request.versionSelections = settings.versions;
  if (Object.keys(media).length > 0) request.media = media;
  if (settings.mode === "dialogue") return request;
  if (settings.bufferSystem !== undefined)
    request.tree = { ...request.tree, bufferModeSystemContext: settings.bufferSystem };
  return settings.workingBuffer ? { ...request, workingBuffer: settings.workingBuffer } : request;
}
