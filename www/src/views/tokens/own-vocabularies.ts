import { signal } from "@preact/signals";
import { loadVocabulary, vocabularyOf } from "ctxweave/tokens";
import { read, write } from "../../ui/database.js";
import { ENCODINGS } from "../../ui/vocabularies.js";

/** A user's vocabulary, made by `vocabularyOf`. */
interface OwnVocabulary {
  name: string;
  asset: Uint8Array<ArrayBuffer>;
}

/** Those that are loaded. */
export const ownVocabularies = signal<readonly OwnVocabulary[]>([]);

/** Names already used for vocabularies: the module keeps them. */
const taken = new Set<string>(ENCODINGS);

/** Their key in the database, next to the views' documents. */
const KEY = "tokens/vocabularies";

function load({ name, asset }: OwnVocabulary): void {
  taken.add(name);
  loadVocabulary(name, asset);
}

/** Shows a list and stores all of it. */
function keep(list: readonly OwnVocabulary[]): Promise<void> {
  ownVocabularies.value = list;
  return write("views", (store) => store.put(list, KEY));
}

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
  const kept: OwnVocabulary[] = (await read("views", (store) => store.get(KEY))) ?? [];
  // If loading failed before, vocabularies may have been added since.
  const known = ownVocabularies.peek();
  const found = kept.filter(({ name }) => known.every((one) => one.name !== name));
  found.forEach(load);
  ownVocabularies.value = [...known, ...found];
}

/** Whether a file is a model's `tokenizer.json`. */
export function isTokenizerFile(content: string): boolean {
  if (!content.includes('"vocab"')) return false;
  try {
    const file = JSON.parse(content) as { model?: { vocab?: unknown } } | null;
    return file?.model?.vocab !== undefined;
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
  const same = list.find((one) => indexedDB.cmp(one.asset, asset) === 0);
  if (same) return same.name;
  const wanted = file.replace(/\.json$/i, "") || "mine";
  let name = wanted;
  for (let more = 2; taken.has(name); more++) name = `${wanted} ${more}`;
  load({ name, asset });
  await keep([...list, { name, asset }]);
  return name;
}

/** Removes a vocabulary from the database, and with the next reload from the page. */
export const forgetVocabulary = (name: string): Promise<void> =>
  keep(ownVocabularies.peek().filter((one) => one.name !== name));
