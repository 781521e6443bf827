import { computed, effect, signal, untracked } from "@preact/signals";
import { countTokens, splitText, tokenSpans, truncateText } from "ctxweave/tokens";
import type { TextPiece, TokenSpans, TruncatedText } from "ctxweave/tokens";
import { keepAddress, linkParams, paramsOf } from "../../shell/route.js";
import { attempt, type Attempt } from "../../ui/attempt.js";
import { count, plural, tokens } from "../../ui/format.js";
import { isWorker, mirror, mirrorWorker } from "../../ui/mirror.js";
import { PersistedDocument } from "../../ui/own.js";
import { LARGE } from "../../ui/text-parts.js";
import { isEncoding, isLoaded, loadVocabulary } from "../../ui/vocabularies.js";
import { blocksOf, boxesOf, linesOf, type Blocks, type Boxes } from "./layout.js";
import { marksOfCut, marksOfPieces, NO_MARKS, type Marks } from "./marks.js";
import { bringOwnVocabularies, bringVocabulary, isTokenizerFile, ownVocabularies } from "./own-vocabularies.js";
import { SAMPLES } from "./samples.js";
import { cutOptions, DEFAULTS, fromParams, splitOptions, type Settings } from "./settings.js";

export const own = new PersistedDocument<string>("tokens");
export const text = computed(() => own.value.value ?? "");
export const settings = signal<Settings>(DEFAULTS);
/** The current activity. */
export const busy = signal("");
export const problem = signal<{ name: string; message: string } | undefined>(undefined);

export function change(fields: Partial<Settings>): void {
  settings.value = { ...settings.value, ...fields };
}

/** Length above which a text is processed only when the user pauses. */
const LONG = 50_000;
const PAUSE = 250;

/** Everything that the worker computes for a large text. */
interface TokenResults {
  spans: TokenSpans | undefined;
  total: number;
  boxes: Boxes;
  blocks: Blocks;
  cut: Attempt<TruncatedText> | undefined;
  pieces: Attempt<TextPiece[]> | undefined;
}

/** The worker for large texts. */
export const remote = mirror<{ text: string; settings: Settings }, TokenResults>(() =>
  text.value.length > LARGE ? { text: text.value, settings: settings.value } : undefined,
);

/** In the worker: the text of the page. */
const mirrored = signal<string | undefined>(undefined);

/** The worker's side of the same. */
export const ofPage = (ready: Promise<unknown>, transfer: <T>(results: T, buffers: ArrayBuffer[]) => T) =>
  mirrorWorker(
    ready,
    (inputs: { text: string; settings: Settings }) => {
      mirrored.value = inputs.text;
      settings.value = inputs.settings;
    },
    (): TokenResults => ({
      spans: spans.value,
      total: total.value,
      boxes: boxes.value,
      blocks: blocks.value,
      cut: cut.value,
      pieces: pieces.value,
    }),
    { move: (changed) => moved(changed, transfer) },
  );

/** Results with copies of their arrays, which are moved to the page: it would be blocked if it had to copy them. */
function moved(
  changed: Partial<TokenResults>,
  transfer: <T>(results: T, buffers: ArrayBuffer[]) => T,
): Partial<TokenResults> {
  const copies = new Map<Uint32Array, Uint32Array<ArrayBuffer>>();
  const copy = (of: Uint32Array): Uint32Array<ArrayBuffer> => {
    const made = copies.get(of) ?? new Uint32Array(of);
    copies.set(of, made);
    return made;
  };
  const { spans: all, boxes: some } = changed;
  const results = {
    ...changed,
    ...(all ? { spans: { ...all, ids: copy(all.ids), ends: copy(all.ends) } } : {}),
    ...(some
      ? { boxes: { ends: copy(some.ends), tokens: copy(some.tokens), ...(some.ids ? { ids: copy(some.ids) } : {}) } }
      : {}),
  };
  return transfer(
    results,
    [...copies.values()].map(({ buffer }) => buffer),
  );
}

/** The text that the results are of: the current one, or that of a moment ago. */
const local = signal("");
export const settled = computed<string>(() =>
  remote.isUsed.value ? (remote.inputs.value?.text ?? "") : (mirrored.value ?? local.value),
);

effect(() => {
  if (isWorker || remote.isUsed.value) return undefined;
  const now = text.value;
  if (now.length < LONG || untracked(() => local.value) === "") {
    local.value = now;
    return undefined;
  }
  const timer = setTimeout(() => (local.value = now), PAUSE);
  return () => clearTimeout(timer);
});

/** Tokenizers without tokens: they estimate their number. */
export const ESTIMATES = ["heuristic", "claude", "claude-3", "gemini", "gpt-4"];

/** The effective tokenizer: the selected one, once its vocabulary is loaded. */
export const tokenizer = computed(() => {
  const asked = settings.value.tokenizer;
  if (ESTIMATES.includes(asked) || ownVocabularies.value.some(({ name }) => name === asked)) return asked;
  return isEncoding(asked) && isLoaded(asked) ? asked : "heuristic";
});

const isExact = computed(() => !ESTIMATES.includes(tokenizer.value));

/** The tokens of the text, if the tokenizer has them. */
export const spans = remote.result("spans", undefined, () =>
  isExact.value ? tokenSpans(settled.value, { tokenizer: tokenizer.value }) : undefined,
);

const NO_BOXES: Boxes = { ends: new Uint32Array(), tokens: new Uint32Array(1) };

/** Number of tokens of the text. */
export const total = remote.result(
  "total",
  0,
  () => spans.value?.ids.length ?? countTokens(settled.value, { tokenizer: tokenizer.value }),
);

export const boxes = remote.result("boxes", NO_BOXES, () =>
  spans.value ? boxesOf(spans.value) : linesOf(settled.value),
);
export const blocks = remote.result("blocks", [0], () => blocksOf(settled.value, boxes.value));

/** Maximum tokens of the truncated text, and of a piece. */
export const limit = computed(() => settings.value.limit ?? Math.ceil(total.value / 2));
export const piece = computed(() => settings.value.piece ?? Math.min(Math.max(Math.ceil(total.value / 5), 16), 512));

/** The settings with the effective tokenizer. */
const asked = computed(() => ({ ...settings.value, tokenizer: tokenizer.value }));

export const cut = remote.result("cut", undefined, () =>
  settings.value.shown === "cut"
    ? attempt(() => truncateText(settled.value, limit.value, cutOptions(asked.value)))
    : undefined,
);

export const pieces = remote.result("pieces", undefined, () =>
  settings.value.shown === "split"
    ? attempt(() => splitText(settled.value, splitOptions(asked.value, piece.value)))
    : undefined,
);

/** The marks in the text. */
export const marks = computed<Marks>(() => {
  if (cut.value?.ok) return marksOfCut(settled.value, cut.value.value, settings.value.marker);
  if (pieces.value?.ok) return marksOfPieces(pieces.value.value, (one, at) => `Piece ${at + 1}: ${tokens(one.tokens)}`);
  return NO_MARKS;
});

/** The result in one sentence. */
export const summary = computed(() => {
  const { shown } = settings.value;
  const left = cut.value?.ok ? cut.value.value : undefined;
  if (shown === "cut" && left) {
    return left.truncated ? `${count(left.tokens)} of ${tokens(total.value)} stay` : "All of it fits";
  }
  const parts = pieces.value?.ok ? pieces.value.value : undefined;
  if (shown === "split" && parts) return `${plural(parts.length, "piece")} of at most ${tokens(piece.value)}`;
  return "";
});

/** The shown part of a large text. */
export const part = signal(0);

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
