import { signal } from "@preact/signals";
import { loadVocabulary, vocabularyOf } from "ctxweave/tokens";
import { read, write } from "../../ui/database.js";
import { isEncoding } from "../../ui/vocabularies.js";

/** A vocabulary that somebody brought, as `vocabularyOf` made it. */
interface OwnVocabulary {
  name: string;
  asset: Uint8Array<ArrayBuffer>;
}

/** Those that are loaded. */
export const ownVocabularies = signal<readonly OwnVocabulary[]>([]);

/** Names that the module has had a vocabulary for, which it keeps. */
const taken = new Set<string>();

/** Where they are kept, beside what is open in the views. */
const KEY = "tokens/vocabularies";

const kept = async (): Promise<readonly OwnVocabulary[]> =>
  ((await read("views", (store) => store.get(KEY))) as readonly OwnVocabulary[] | undefined) ?? [];

const keep = (list: readonly OwnVocabulary[]): Promise<void> => write(["views"], (store) => store.put(list, KEY));

/** Those of the last visit, which come once. */
let begun: Promise<void> | undefined;

/** Loads those of the last visit. */
export function bringOwnVocabularies(): Promise<void> {
  begun ??= bringKept().catch((error: unknown) => {
    begun = undefined;
    throw error;
  });
  return begun;
}

async function bringKept(): Promise<void> {
  const before = await kept();
  // Where reading failed before, one may have been brought meanwhile.
  const known = ownVocabularies.peek();
  const found = before.filter(({ name }) => known.every((one) => one.name !== name));
  for (const { name, asset } of found) {
    taken.add(name);
    loadVocabulary(name, asset);
  }
  ownVocabularies.value = [...known, ...found];
}

/** Whether a file is the `tokenizer.json` of a model. */
export function isTokenizerFile(content: string): boolean {
  if (!/^\s*\{/.test(content) || !content.includes('"model"') || !content.includes('"vocab"')) return false;
  try {
    const { model } = JSON.parse(content) as { model?: { vocab?: unknown } };
    return typeof model === "object" && model.vocab !== undefined;
  } catch {
    return false;
  }
}

/** Makes a vocabulary of a `tokenizer.json`, and gives the name that it has from now on. */
export async function bringVocabulary(file: string, content: string): Promise<string> {
  const asset = vocabularyOf(content);
  // What is kept is written as a whole: without those of the last visit they would be gone. What failed there is said there.
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

/** Forgets one: after a reload it is not there any more. */
export async function forgetVocabulary(name: string): Promise<void> {
  ownVocabularies.value = ownVocabularies.peek().filter((one) => one.name !== name);
  await keep(ownVocabularies.peek());
}
