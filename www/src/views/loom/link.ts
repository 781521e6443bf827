import { paramsOf, wordIn } from "../../shell/route.js";
import { readAware, writeAware } from "./aware.js";
import {
  ENCODINGS,
  FILLS,
  freshSettings,
  protectionOf,
  PROTECTIONS,
  PROVIDERS,
  STRATEGIES,
  withProvider,
  type Protection,
  type Settings,
} from "./settings.js";

/**
 * Writes the tree, the position in it and the settings, without those that equal the initial ones. Keys are short,
 * because people read links.
 */
export function writeLink(tree: string, tip: string | undefined, settings: Settings, start: Settings): URLSearchParams {
  const { preferences, annotations, aware } = settings;
  const fields: Record<string, unknown> = {
    tree,
    tip,
    mode: settings.mode,
    window: settings.contextWindow,
    strategy: preferences.truncationStrategy,
    buffer: preferences.tokenBuffer,
    recent: preferences.minimumRecentNodes,
    step: preferences.cutStep,
    startOn: preferences.startOn,
    protect: preferences.protect && protectionOf(preferences.protect),
    fill: preferences.fill,
    marker: preferences.truncationMarker,
    annotations: annotations === "all" ? annotations : undefined,
    provider: settings.provider,
    model: settings.model,
    cache: settings.cache ? 1 : undefined,
    tokens: settings.tokenizer,
    instructions: settings.instructionScope,
    system: settings.systemPrompt,
    text: settings.workingBuffer,
    message: settings.pendingMessage,
    bufferSystem: settings.bufferSystem,
  };
  const p = paramsOf(fields, { mode: start.mode, window: start.contextWindow });
  if (Array.isArray(annotations)) for (const id of annotations) p.append("annotation", id);
  if (aware) writeAware(p, aware);
  for (const choice of Object.entries(settings.choices)) p.append("choice", JSON.stringify(choice));
  for (const version of Object.entries(settings.versions)) p.append("version", JSON.stringify(version));
  for (const [node, value] of Object.entries(settings.excluded)) p.append(value ? "exclude" : "include", node);
  return p;
}

/**
 * Reads the settings of a link over those that the tree starts with. Unreadable values are ignored, because links can
 * be typed by hand.
 */
export function readLink(p: URLSearchParams, start: Settings): Settings {
  const text = (name: string): string | undefined => p.get(name) || undefined;
  const number = (name: string): number | undefined => {
    const value = Number(text(name)?.trim() || Number.NaN);
    return Number.isFinite(value) ? value : undefined;
  };
  const protection = wordIn(p, "protect", Object.keys(PROTECTIONS) as Protection[]);
  const some = p.getAll("annotation");
  const provider = wordIn(p, "provider", PROVIDERS);
  const settings: Settings = {
    ...freshSettings(number("window") ?? start.contextWindow, wordIn(p, "mode", ["dialogue", "buffer"]) ?? start.mode),
    ...present({
      annotations: p.get("annotations") === "all" ? "all" : some.length > 0 ? some : undefined,
      provider,
      model: provider && text("model"),
      cache: provider && p.has("cache") ? true : undefined,
      tokenizer: wordIn(p, "tokens", ENCODINGS),
      instructionScope: wordIn(p, "instructions", ["path", "generation"]),
      systemPrompt: text("system"),
      workingBuffer: text("text"),
      pendingMessage: text("message"),
      bufferSystem: p.has("bufferSystem") ? p.get("bufferSystem") === "true" : undefined,
      aware: readAware(p),
    }),
    preferences: present({
      truncationStrategy: wordIn(p, "strategy", STRATEGIES),
      tokenBuffer: number("buffer"),
      minimumRecentNodes: number("recent"),
      cutStep: number("step"),
      startOn: wordIn(p, "startOn", ["any", "user"]),
      protect: protection && PROTECTIONS[protection],
      fill: wordIn(p, "fill", FILLS),
      truncationMarker: p.get("marker") ?? undefined,
    }),
    choices: pairs(p, "choice"),
    versions: pairs(p, "version"),
    excluded: Object.fromEntries([
      ...p.getAll("exclude").map((id) => [id, true]),
      ...p.getAll("include").map((id) => [id, false]),
    ]),
  };
  return provider ? withProvider(settings, provider) : settings;
}

/** The fields with a value. */
function present<T extends object>(fields: T): { [Key in keyof T]?: NonNullable<T[Key]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

function pairs(p: URLSearchParams, key: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const text of p.getAll(key)) {
    try {
      const pair: unknown = JSON.parse(text);
      if (Array.isArray(pair) && typeof pair[0] === "string" && typeof pair[1] === "string") found[pair[0]] = pair[1];
    } catch {
      // Another program's parameter.
    }
  }
  return found;
}
