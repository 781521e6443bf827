import { computed, effect, signal, untracked } from "@preact/signals";
import { countTokens, splitText, tokenSpans, truncateText } from "ctxweave/tokens";
import type { TextPiece, TokenSpans, TruncatedText } from "ctxweave/tokens";
import { keepAddress, linkParams, paramsOf } from "../../shell/route.js";
import { attempt, type Attempt } from "../../ui/attempt.js";
import { count, plural, tokens } from "../../ui/format.js";
import { PersistedDocument } from "../../ui/own.js";
import { isEncoding, isLoaded, loadVocabulary } from "../../ui/vocabularies.js";
import { blocksOf, boxesOf, linesOf, type Blocks, type Boxes } from "./layout.js";
import { marksOfCut, marksOfPieces, NO_MARKS, type Marks } from "./marks.js";
import { bringOwnVocabularies, bringVocabulary, isTokenizerFile, ownVocabularies } from "./own-vocabularies.js";
import { SAMPLES } from "./samples.js";
import { cutOptions, DEFAULTS, fromParams, splitOptions, type Settings } from "./settings.js";

export const own = new PersistedDocument<string>("tokens");
export const text = computed(() => own.value.value ?? "");
export const settings = signal<Settings>(DEFAULTS);
/** What is under way. */
export const busy = signal("");
export const problem = signal<{ name: string; message: string } | undefined>(undefined);

export function change(fields: Partial<Settings>): void {
  settings.value = { ...settings.value, ...fields };
}

/** A long text that is being written is taken apart when there is a pause. */
const LONG = 50_000;
const PAUSE = 250;

/** The text that is taken apart: what is written, or what it was a moment ago. */
export const settled = signal("");

effect(() => {
  const now = text.value;
  if (now.length < LONG || untracked(() => settled.value) === "") {
    settled.value = now;
    return undefined;
  }
  const timer = setTimeout(() => (settled.value = now), PAUSE);
  return () => clearTimeout(timer);
});

/** Tokenizers that have no tokens: they say how many there would be. */
export const ESTIMATES = ["heuristic", "claude", "claude-3", "gemini", "gpt-4"];

/** The tokenizer that counts now: the one that is asked for, once its vocabulary is there. */
export const tokenizer = computed(() => {
  const asked = settings.value.tokenizer;
  if (ESTIMATES.includes(asked) || ownVocabularies.value.some(({ name }) => name === asked)) return asked;
  return isEncoding(asked) && isLoaded(asked) ? asked : "heuristic";
});

const isExact = computed(() => !ESTIMATES.includes(tokenizer.value));

/** The tokens of the text, where the tokenizer has them. */
export const spans = computed<TokenSpans | undefined>(() =>
  isExact.value ? tokenSpans(settled.value, { tokenizer: tokenizer.value }) : undefined,
);

/** How many tokens the text has. */
export const total = computed(
  () => spans.value?.ids.length ?? countTokens(settled.value, { tokenizer: tokenizer.value }),
);

export const boxes = computed<Boxes>(() => (spans.value ? boxesOf(spans.value) : linesOf(settled.value)));
export const blocks = computed<Blocks>(() => blocksOf(settled.value, boxes.value));

/** The most tokens that are left, and that a piece has. */
export const limit = computed(() => settings.value.limit ?? Math.ceil(total.value / 2));
export const piece = computed(() => settings.value.piece ?? Math.min(Math.max(Math.ceil(total.value / 5), 16), 512));

/** The settings with the tokenizer that counts now. */
const asked = computed(() => ({ ...settings.value, tokenizer: tokenizer.value }));

export const cut = computed<Attempt<TruncatedText> | undefined>(() =>
  settings.value.shown === "cut"
    ? attempt(() => truncateText(settled.value, limit.value, cutOptions(asked.value)))
    : undefined,
);

export const pieces = computed<Attempt<TextPiece[]> | undefined>(() =>
  settings.value.shown === "split"
    ? attempt(() => splitText(settled.value, splitOptions(asked.value, piece.value)))
    : undefined,
);

/** What is marked in the text. */
export const marks = computed<Marks>(() => {
  if (cut.value?.ok) return marksOfCut(settled.value, cut.value.value, settings.value.marker);
  if (pieces.value?.ok) return marksOfPieces(pieces.value.value, (one, at) => `Piece ${at + 1}: ${tokens(one.tokens)}`);
  return NO_MARKS;
});

/** In one sentence. */
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

/** Opens a text in the place of what is open. */
export async function open(content: string, isOwn: boolean): Promise<void> {
  if (await own.offer(content, isOwn)) change({ limit: undefined, piece: undefined });
}

/** What a link carries, what was open last, or the first sample; and the vocabularies of one's own. */
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

/** Opens a file: a text, or the `tokenizer.json` of a model, with which texts are counted from now on. */
export async function openFile(file: File): Promise<void> {
  problem.value = undefined;
  const content = await file.text();
  if (!isTokenizerFile(content)) return open(content, true);
  busy.value = `Reading ${file.name}…`;
  // What is said has to be seen before the page is busy.
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

/** Loads the vocabulary that is asked for, and writes the settings into the address; gives back the way to stop. */
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
