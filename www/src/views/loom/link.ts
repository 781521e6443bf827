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

/** The state in a shared link: the tree, the position in it, and the settings. */
export interface LinkState {
  source: string;
  tip?: string;
  settings: Settings;
}

/** Keys are short, because people read links; only differences from the start are written. */
export function writeLink(state: LinkState, start: Settings): URLSearchParams {
  const { settings } = state;
  const p = new URLSearchParams();
  p.set("tree", state.source);
  if (state.tip) p.set("tip", state.tip);
  if (settings.mode !== start.mode) p.set("mode", settings.mode);
  if (settings.contextWindow !== start.contextWindow) p.set("window", String(settings.contextWindow));
  const { truncationStrategy, minimumRecentNodes, tokenBuffer, cutStep, startOn, truncationMarker, protect, fill } =
    settings.preferences;
  if (truncationStrategy !== undefined) p.set("strategy", truncationStrategy);
  if (tokenBuffer !== undefined) p.set("buffer", String(tokenBuffer));
  if (minimumRecentNodes !== undefined) p.set("recent", String(minimumRecentNodes));
  if (cutStep !== undefined) p.set("step", String(cutStep));
  if (startOn !== undefined) p.set("startOn", startOn);
  if (protect !== undefined) p.set("protect", protectionOf(protect));
  if (fill !== undefined) p.set("fill", fill);
  if (truncationMarker !== undefined) p.set("marker", truncationMarker);
  if (settings.annotations === "all") p.set("annotations", "all");
  else if (settings.annotations !== "none") for (const id of settings.annotations) p.append("annotation", id);
  if (settings.provider) p.set("provider", settings.provider);
  if (settings.model) p.set("model", settings.model);
  if (settings.cache) p.set("cache", "1");
  if (settings.tokenizer) p.set("tokens", settings.tokenizer);
  if (settings.instructionScope) p.set("instructions", settings.instructionScope);
  if (settings.systemPrompt) p.set("system", settings.systemPrompt);
  if (settings.workingBuffer) p.set("text", settings.workingBuffer);
  if (settings.pendingMessage) p.set("message", settings.pendingMessage);
  if (settings.bufferSystem !== undefined) p.set("bufferSystem", String(settings.bufferSystem));
  if (settings.aware) writeAware(p, settings.aware);
  for (const [node, choice] of Object.entries(settings.choices)) p.append("choice", JSON.stringify([node, choice]));
  for (const [node, version] of Object.entries(settings.versions)) p.append("version", JSON.stringify([node, version]));
  for (const [node, value] of Object.entries(settings.excluded)) p.append(value ? "exclude" : "include", node);
  return p;
}

/**
 * Reads the settings of a link over those that the tree starts with. Unreadable values are ignored, because links can
 * be typed by hand.
 */
export function readLink(p: URLSearchParams, start: Settings): Settings {
  const settings = freshSettings(start.contextWindow, start.mode);
  const mode = p.get("mode");
  if (mode === "dialogue" || mode === "buffer") settings.mode = mode;
  settings.contextWindow = number(p, "window") ?? start.contextWindow;

  const strategy = STRATEGIES.find((s) => s === p.get("strategy"));
  if (strategy) settings.preferences.truncationStrategy = strategy;
  const tokenBuffer = number(p, "buffer");
  if (tokenBuffer !== undefined) settings.preferences.tokenBuffer = tokenBuffer;
  const recent = number(p, "recent");
  if (recent !== undefined) settings.preferences.minimumRecentNodes = recent;
  const step = number(p, "step");
  if (step !== undefined) settings.preferences.cutStep = step;
  const startOn = p.get("startOn");
  if (startOn === "any" || startOn === "user") settings.preferences.startOn = startOn;
  const protection = (Object.keys(PROTECTIONS) as Protection[]).find((name) => name === p.get("protect"));
  if (protection) settings.preferences.protect = PROTECTIONS[protection];
  const fill = FILLS.find((name) => name === p.get("fill"));
  if (fill) settings.preferences.fill = fill;
  const marker = p.get("marker");
  if (marker !== null) settings.preferences.truncationMarker = marker;

  const some = p.getAll("annotation");
  if (p.get("annotations") === "all") settings.annotations = "all";
  else if (some.length > 0) settings.annotations = some;
  const provider = PROVIDERS.find((name) => name === p.get("provider"));
  const model = p.get("model");
  if (provider && model) settings.model = model;
  if (provider && p.has("cache")) settings.cache = true;
  const tokenizer = ENCODINGS.find((name) => name === p.get("tokens"));
  if (tokenizer) settings.tokenizer = tokenizer;
  const scope = p.get("instructions");
  if (scope === "path" || scope === "generation") settings.instructionScope = scope;
  const system = p.get("system");
  if (system) settings.systemPrompt = system;
  const text = p.get("text");
  if (text) settings.workingBuffer = text;
  const message = p.get("message");
  if (message) settings.pendingMessage = message;
  const bufferSystem = p.get("bufferSystem");
  if (bufferSystem !== null) settings.bufferSystem = bufferSystem === "true";
  const aware = readAware(p);
  if (aware) settings.aware = aware;
  Object.assign(settings.choices, pairs(p, "choice"));
  Object.assign(settings.versions, pairs(p, "version"));
  for (const id of p.getAll("exclude")) settings.excluded[id] = true;
  for (const id of p.getAll("include")) settings.excluded[id] = false;
  return provider ? withProvider({ ...settings, provider }, provider) : settings;
}

function number(p: URLSearchParams, key: string): number | undefined {
  const text = p.get(key);
  const value = text === null || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
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
