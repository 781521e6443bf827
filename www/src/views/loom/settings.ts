import type {
  AssemblyReport,
  BufferRequest,
  DialogueRequest,
  LoomTreeData,
  Media,
  Preferences,
  Target,
  TargetProvider,
  TruncationStrategy,
} from "ctxweave/loom";
import { STRATEGY_NAMES } from "../../ui/words.js";
import { loomAwareOf, type AwareSettings } from "./aware.js";
import endpoints from "./endpoints.json";

export type Mode = "dialogue" | "buffer";

/** The encodings offered by the page. */
export const ENCODINGS = ["o200k_base", "cl100k_base"] as const;
export type PageEncoding = (typeof ENCODINGS)[number];

/** All decisions of the user. An absent preference has the tree's value or the default. */
export interface Settings {
  mode: Mode;
  contextWindow: number;
  preferences: Preferences;
  annotations: "none" | "all" | string[];
  /** The target of the prompt: bar, marks, report and body are those of its assembly. */
  provider?: TargetProvider;
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

export type EffectivePreferences = AssemblyReport["preferences"];

export const STRATEGIES = Object.keys(STRATEGY_NAMES) as TruncationStrategy[];

export const FILL_NAMES: Record<EffectivePreferences["fill"], string> = {
  all: "Results, then texts",
  results: "Results only",
  off: "Off",
};

export const FILLS = Object.keys(FILL_NAMES) as EffectivePreferences["fill"][];

/** The values of `protect`, by the word in the control and the link. */
export const PROTECTIONS = {
  both: ["firstUser", "lastUser"],
  firstUser: ["firstUser"],
  lastUser: ["lastUser"],
  none: [],
} as const;

export type Protection = keyof typeof PROTECTIONS;

export const PROTECTION_NAMES: Record<Protection, string> = {
  both: "First and last user message",
  firstUser: "First user message",
  lastUser: "Last user message",
  none: "None",
};

export function protectionOf(protect: EffectivePreferences["protect"]): Protection {
  const [first = "none", second] = new Set(protect);
  return second ? "both" : first;
}

/** Where the bodies for a provider are sent. */
interface Endpoint {
  name: string;
  /** The initial model. */
  model: string;
  /** The address; `{model}` is a placeholder. */
  url: string;
  /** The shell fills in the key. */
  headers: Record<string, string>;
}

export const ENDPOINTS: Record<TargetProvider, Endpoint> = endpoints;

export const PROVIDERS = Object.keys(endpoints) as TargetProvider[];

export const PROVIDER_OPTIONS = PROVIDERS.map((value) => ({ value, name: ENDPOINTS[value].name }));

/** The mode of a provider: plain completion takes a document, all others messages. */
function modeOf(provider: TargetProvider): Mode {
  return provider === "completion" ? "buffer" : "dialogue";
}

/** The settings for a provider, or without one. */
export function withProvider(settings: Settings, provider: TargetProvider | undefined): Settings {
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
export function targetOf({ provider, model, cache }: Settings) {
  if (!provider) return undefined;
  const cached = provider === "anthropic" && cache ? { cache: true } : {};
  return { provider, model: model || ENDPOINTS[provider].model, ...cached } satisfies Target;
}

export function freshSettings(contextWindow: number, mode: Mode): Settings {
  return { mode, contextWindow, preferences: {}, annotations: "none", choices: {}, versions: {}, excluded: {} };
}

/** The value of a preference as resolved by the library: the user's, the tree's, or the default. */
export function effective<K extends keyof Preferences>(
  settings: Settings,
  tree: LoomTreeData,
  key: K,
): EffectivePreferences[K] {
  const isProtected = key === "protect" && effective(settings, tree, "truncationStrategy") === "truncateMiddle";
  const defaults: EffectivePreferences = {
    truncationStrategy: "truncateMiddle",
    minimumRecentNodes: 4,
    tokenBuffer: 1024,
    cutStep: 0,
    startOn: "any",
    fill: "all",
    protect: isProtected ? PROTECTIONS.both : PROTECTIONS.none,
    truncationMarker: settings.mode === "buffer" ? "\n\n[…]\n\n" : "[… {count} earlier nodes omitted …]",
  };
  return (settings.preferences[key] ?? tree.preferences?.[key] ?? defaults[key]) as EffectivePreferences[K];
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

/** The request passed to the library. The tokenizer differs from the selected one until its vocabulary is loaded. */
export function buildRequest(
  tree: LoomTreeData,
  media: Record<string, Media>,
  tip: string,
  settings: Settings,
  tokenizer: PageEncoding | undefined,
): DialogueRequest | BufferRequest {
  const { mode, annotations, systemPrompt, aware, bufferSystem } = settings;
  const included = treeWithExclusions(tree, settings.excluded);
  const isBuffer = mode === "buffer";
  return {
    tree: isBuffer && bufferSystem !== undefined ? { ...included, bufferModeSystemContext: bufferSystem } : included,
    tip,
    contextWindow: settings.contextWindow,
    preferences: unlessEmpty(settings.preferences),
    includeAnnotations: annotations === "none" ? undefined : annotations,
    // The target implies the provider, and reports what does not reach it.
    target: targetOf(settings),
    tokenizer,
    instructionScope: settings.instructionScope,
    agent: systemPrompt ? { configuration: { systemPrompt } } : undefined,
    loomAware: aware && loomAwareOf(aware),
    choices: unlessEmpty(settings.choices),
    versionSelections: unlessEmpty(settings.versions),
    media: unlessEmpty(media),
    workingBuffer: isBuffer ? settings.workingBuffer : undefined,
  };
}

const unlessEmpty = <T extends object>(fields: T): T | undefined =>
  Object.keys(fields).length > 0 ? fields : undefined;
