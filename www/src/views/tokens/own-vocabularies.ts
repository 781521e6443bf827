import { signal } from "@preact/signals";
import { loadVocabulary, vocabularyOf } from "ctxweave/tokens";
import { read, write } from "../../ui/database.js";
import { isEncoding } from "../../ui/vocabularies.js";

/** A user's vocabulary, made by `vocabularyOf`. */
interface OwnVocabulary {
  name: string;
  asset: Uint8Array<ArrayBuffer>;
}

/** Those that are loaded. */
export const ownVocabularies = signal<readonly OwnVocabulary[]>([]);

/** Names already used for vocabularies: the module keeps them. */
const taken = new Set<string>();

/** Their key in the database, next to the views' documents. */
const KEY = "tokens/vocabularies";

const kept = async (): Promise<readonly OwnVocabulary[]> =>
  ((await read("views", (store) => store.get(KEY))) as readonly OwnVocabulary[] | undefined) ?? [];

const keep = (list: readonly OwnVocabulary[]): Promise<void> => write(["views"], (store) => store.put(list, KEY));

/** Loading of the stored vocabularies, which happens once. */
let begun: Promise<void> | undefined;

/** Loads the stored vocabularies. */
export function bringOwnVocabularies(): Promise<void> {
  begun ??= bringKept().catch((error: unknown) => {
    begun = undefined;
    throw error;
  });
  return begun;
}

async function bringKept(): Promise<void> {
  const before = await kept();
  // If loading failed before, vocabularies may have been added since.
  const known = ownVocabularies.peek();
  const found = before.filter(({ name }) => known.every((one) => one.name !== name));
  for (const { name, asset } of found) {
    taken.add(name);
    loadVocabulary(name, asset);
  }
  ownVocabularies.value = [...known, ...found];
}

/** Whether a file is a model's `tokenizer.json`. */
export function isTokenizerFile(content: string): boolean {
  if (!/^\s*\{/.test(content) || !content.includes('"model"') || !content.includes('"vocab"')) return false;
  try {
    const { model } = JSON.parse(content) as { model?: { vocab?: unknown } };
    return typeof model === "object" && model.vocab !== undefined;
  } catch {
    return false;
  }
}

/** Converts a `tokenizer.json` into a vocabulary; returns its name. */
export async function bringVocabulary(file: string, content: string): Promise<string> {
  const asset = vocabularyOf(content);
  // All of them are stored at once, so the stored ones have to be loaded first. Errors are reported there.
  await bringOwnVocabularies().catch(() => undefined);
  const list = ownVocabularies.peek();
  const same = list.find((one) => isSame(one.asset, asset));
  if (same) return same.name;
  const name = freeName(file.replace(/\.json$/i, "") || "mine");
  taken.add(name);
  loadVocabulary(name, asset);
  ownVocabularies.value = [...list, { name, asset }];
  await keep(ownVocabularies.peek());
  return name;
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

function freeName(wanted: string): string {
  for (let more = 1; ; more++) {
    const name = more === 1 ? wanted : `${wanted} ${more}`;
    if (!taken.has(name) && !isEncoding(name)) return name;
  }
}

/** Removes a vocabulary from the database; it is gone after a reload. */
export async function forgetVocabulary(name: string): Promise<void> {
  ownVocabularies.value = ownVocabularies.peek().filter((one) => one.name !== name);
  await keep(ownVocabularies.peek());
}
