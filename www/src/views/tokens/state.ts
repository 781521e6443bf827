import { computed, effect, signal, untracked } from "@preact/signals";
import { countTokens, splitText, tokenSpans, truncateText } from "ctxweave/tokens";
import { keepAddress, linkParams, paramsOf } from "../../shell/route.js";
import { attempt } from "../../ui/attempt.js";
import { count, plural, tokens } from "../../ui/format.js";
import { isWorker, Mirror } from "../../ui/mirror.js";
import { PersistedDocument } from "../../ui/own.js";
import { isEncoding, isLoaded, loadVocabulary } from "../../ui/vocabularies.js";
import { blocksOf, boxesOf, linesOf } from "./layout.js";
import { marksOfCut, marksOfPieces, type Mark } from "./marks.js";
import { bringOwnVocabularies, bringVocabulary, isTokenizerFile, ownVocabularies } from "./own-vocabularies.js";
import { SAMPLES } from "./samples.js";
import { cutOptions, DEFAULTS, fromParams, splitOptions, type Settings } from "./settings.js";

export const own = new PersistedDocument<string>("tokens");
export const text = computed(() => own.value.value ?? "");
export const settings = signal<Settings>(DEFAULTS);
/** The current activity. */
export const busy = signal("");
export const problem = signal<{ name: string; message: string } | undefined>(undefined);
/** The shown part of a large text. */
export const part = signal(0);

export function change(fields: Partial<Settings>): void {
  settings.value = { ...settings.value, ...fields };
}

/** A setting, and how a control changes it. */
export const setting = <Name extends keyof Settings>(name: Name) => ({
  value: settings.value[name],
  onValue: (value: Settings[Name]) => change({ [name]: value }),
});

/** Length above which a text is processed only when the user pauses. */
const LONG = 50_000;
const PAUSE = 250;

/** The worker for large texts. */
export const remote = new Mirror(own.value, { settings });

/** The text that the results are of: the current one, or that of a moment ago. */
const local = signal("");
export const settled = computed<string>(() =>
  remote.isUsed.value ? (remote.inputs.value?.document ?? "") : (remote.received.value ?? local.value),
);

effect(() => {
  if (isWorker || remote.isUsed.value) return undefined;
  const now = text.value;
  if (now.length < LONG || untracked(() => local.value) === "") local.value = now;
  const timer = setTimeout(() => (local.value = now), PAUSE);
  return () => clearTimeout(timer);
});

/** Tokenizers without tokens: they estimate their number. */
export const ESTIMATES = ["heuristic", "claude", "claude-3", "gemini", "gpt-4"];

/** Whether a tokenizer is the user's. */
export const isOwnTokenizer = (tokenizer: string): boolean =>
  ownVocabularies.value.some(({ name }) => name === tokenizer);

/** The effective tokenizer: the selected one, once its vocabulary is loaded. */
const tokenizer = computed(() => {
  const { tokenizer: chosen } = settings.value;
  if (ESTIMATES.includes(chosen) || isOwnTokenizer(chosen)) return chosen;
  return isEncoding(chosen) && isLoaded(chosen) ? chosen : "heuristic";
});

/** The settings with the effective tokenizer. */
export const asked = computed<Settings>(() => ({ ...settings.value, tokenizer: tokenizer.value }));

export const isExact = computed(() => !ESTIMATES.includes(tokenizer.value));

/** The tokens of the text, if the tokenizer has them. */
export const spans = remote.result("spans", undefined, () =>
  isExact.value ? tokenSpans(settled.value, { tokenizer: tokenizer.value }) : undefined,
);

/** Number of tokens of the text. */
export const total = remote.result(
  "total",
  0,
  () => spans.value?.ids.length ?? countTokens(settled.value, { tokenizer: tokenizer.value }),
);

export const boxes = remote.result("boxes", linesOf(""), () =>
  spans.value ? boxesOf(spans.value) : linesOf(settled.value),
);
export const blocks = remote.result("blocks", [0], () => blocksOf(settled.value, boxes.value));

/** Maximum tokens of the truncated text, and of a piece. */
export const limit = computed(() => settings.value.limit ?? Math.ceil(total.value / 2));
export const piece = computed(() => settings.value.piece ?? Math.min(Math.max(Math.ceil(total.value / 5), 16), 512));

export const cut = remote.result("cut", undefined, () =>
  asked.value.shown === "cut"
    ? attempt(() => truncateText(settled.value, limit.value, cutOptions(asked.value)))
    : undefined,
);

export const pieces = remote.result("pieces", undefined, () =>
  asked.value.shown === "split"
    ? attempt(() => splitText(settled.value, splitOptions(asked.value, piece.value)))
    : undefined,
);

/** The marks in the text. */
export const marks = computed<readonly Mark[]>(() => {
  if (cut.value?.ok) return marksOfCut(settled.value, cut.value.value, settings.value.marker);
  return pieces.value?.ok ? marksOfPieces(pieces.value.value) : [];
});

/** The result in one sentence. */
export const summary = computed(() => {
  if (cut.value?.ok) {
    const { truncated, tokens: left } = cut.value.value;
    return truncated ? `${count(left)} of ${tokens(total.value)} stay` : "All of it fits";
  }
  if (pieces.value?.ok) return `${plural(pieces.value.value.length, "piece")} of at most ${tokens(piece.value)}`;
  return "";
});

/** Replaces the open text. */
export async function open(content: string, isOwn: boolean): Promise<void> {
  if (await own.offer(content, isOwn)) change({ limit: undefined, piece: undefined });
}

/** Opens the document of the link, the last text, or the first sample; loads the user's vocabularies. */
export async function begin(): Promise<void> {
  settings.value = fromParams(linkParams("tokens"));
  const opened = await own.begin(String);
  if (!opened && own.value.peek() === undefined) own.show(SAMPLES[0].text, false);
  try {
    await bringOwnVocabularies();
  } catch (error) {
    problem.value = { name: "Your vocabularies", message: (error as Error).message };
  }
}

/** Opens a file: a text, or a model's `tokenizer.json`, which becomes the tokenizer. */
export async function openFile(file: File): Promise<void> {
  problem.value = undefined;
  const content = await file.text();
  if (!isTokenizerFile(content)) return open(content, true);
  busy.value = `Reading ${file.name}…`;
  // The status has to be rendered before the page is busy.
  await new Promise((done) => setTimeout(done, 50));
  try {
    change({ tokenizer: await bringVocabulary(file.name, content) });
  } catch (error) {
    problem.value = { name: file.name, message: (error as Error).message };
  } finally {
    busy.value = "";
  }
  return undefined;
}

/** Loads the selected vocabulary, and writes the settings into the address; returns a function that stops it. */
export function follow(): () => void {
  const loads = effect(() => {
    const { tokenizer: name } = settings.value;
    if (isEncoding(name)) void untracked(() => loadVocabulary(name));
  });
  const writes = keepAddress("tokens", () => paramsOf(settings.value, DEFAULTS));
  return () => {
    loads();
    writes();
  };
}
