/** The worker that reads dropped files, so that the page stays responsive. */

import { expose } from "comlink";
import type { Identification } from "ctxweave/commits";
import { textOf } from "../views/chats/parts.js";
import { messagesOf, readRequest, type Request } from "../views/chats/request.js";
import { chatArea, commitsArea } from "./areas.js";
import { asUtf8, binaryFormat, MAX_FILE_BYTES, MAX_VIEW_BYTES, tooLarge } from "./bytes.js";
import { convert, type OpenedItem } from "./convert.js";
import { guessOf, guessOfPaths, type Guess, type Target } from "./kinds.js";
import { valuesInText, type Found } from "./script.js";
import { chatsIn, jsonOf } from "./shapes.js";

/** A file to read: its path among the dropped ones. */
export interface InputFile {
  path: string;
  file: Blob;
}

/** Something that can be opened: a file, a file of an archive, or a request in a file. */
export interface Item extends Guess {
  id: number;
  /** The path of the file, and the part of it. */
  name: string;
  /** In bytes. */
  size: number;
  tokens?: number;
  /** The first words of its text. */
  first: string;
  /** Why it cannot be opened. */
  problem?: string;
}

type Bytes = Uint8Array<ArrayBuffer>;

interface Source {
  name: string;
  found: Identification;
  bytes: () => Promise<Bytes>;
}

const sources = new Map<number, Source>();
let next = 0;

const FIRST_WORDS = 160;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Largest archive, in bytes, and most files that are listed of it. */
const MAX_ARCHIVE_BYTES = 512_000_000;
const MAX_ARCHIVE_FILES = 2000;

async function* readFile({ path, file }: InputFile): AsyncGenerator<Item[]> {
  try {
    const format = await binaryFormat(new Uint8Array(await file.slice(0, 4100).arrayBuffer()));
    if (format?.ext === "zip" && file.size <= MAX_ARCHIVE_BYTES) yield* readArchive(path, file);
    else if (format?.ext === "gz") {
      const plain = file.stream().pipeThrough(new DecompressionStream("gzip"));
      yield* readFile({ path: path.replace(/\.gz$/u, ""), file: await new Response(plain).blob() });
    } else if (format) yield [refused(path, file.size, format.what)];
    else if (file.size > MAX_FILE_BYTES) yield [refusedAsLarge(path, file.size)];
    else {
      const read = async (): Promise<Bytes> => asUtf8(new Uint8Array(await file.arrayBuffer()));
      yield await itemsIn(path, await read(), read);
    }
  } catch (error) {
    yield [refused(path, file.size, "a file that cannot be read", (error as Error).message)];
  }
}

const refused = (name: string, size: number, what: string, problem = "the page reads text and JSON"): Item => ({
  id: next++,
  view: undefined,
  name,
  what,
  size,
  first: "",
  problem,
});

const refusedAsLarge = (name: string, size: number): Item =>
  refused(name, size, "a large file", tooLarge(size, MAX_FILE_BYTES));

/** The files of a ZIP archive, such as an export of ChatGPT. */
async function* readArchive(path: string, file: Blob): AsyncGenerator<Item[]> {
  const { unzipSync } = await import("fflate");
  const archive = new Uint8Array(await file.arrayBuffer());
  const entries: { name: string; size: number }[] = [];
  unzipSync(archive, {
    filter: ({ name, originalSize }) => {
      if (!name.endsWith("/") && !/^__MACOSX\/|(?:^|\/)\.DS_Store$/u.test(name))
        entries.push({ name, size: originalSize });
      return false;
    },
  });
  if (entries.some(({ name }) => name === "[Content_Types].xml")) {
    yield [refused(path, file.size, "an Office document (.docx, .xlsx or .pptx)")];
    return;
  }
  for (const { name, size } of entries.slice(0, MAX_ARCHIVE_FILES)) {
    const inner = `${path}/${name}`;
    const media = /\.(png|jpe?g|gif|webp|heic|mp[34]|m4a|wav|webm|mov|pdf)$/iu.exec(name)?.[1];
    if (size > MAX_FILE_BYTES) yield [refusedAsLarge(inner, size)];
    else if (media) yield [refused(inner, size, `a media file (.${media.toLowerCase()})`)];
    else {
      // An archive is decompressed once per file, so that only one of them is in memory.
      const bytes = unzipSync(archive, { filter: (entry) => entry.name === name })[name] as Bytes;
      yield* readFile({ path: inner, file: new Blob([bytes]) });
    }
  }
  const more = entries.length - MAX_ARCHIVE_FILES;
  if (more > 0)
    yield [refused(path, file.size, `an archive with ${more} more files`, "extract it and drop its folder")];
}

/** A file of one item, or the requests in it. */
async function itemsIn(path: string, bytes: Bytes, read: () => Promise<Bytes>): Promise<Item[]> {
  const { identify } = await commitsArea();
  const found = identify(bytes, { path });
  const inside = holdsOthers(found) ? await chatsInText(decoder.decode(bytes), found.kind) : [];
  // A value can be any of the shapes.
  const values = inside.flatMap((one) => {
    const direct = identify(one.value);
    if (direct.kind !== "unknown" && !holdsOthers(direct)) return [{ ...one, found: direct }];
    return chatsIn([one.value]).map((inner) => ({ ...inner, found: identify(inner.value) }));
  });
  const known = values.filter(({ found: { kind } }) => kind !== "unknown" && kind !== "text");
  if (known.length === 0) return [await itemOf(path, found, bytes, read)];
  return Promise.all(
    known.map(({ name, value, found }) => {
      // Written as JSON, which every view reads.
      const content = encoder.encode(JSON.stringify(value));
      return itemOf(name ? `${path}: ${name}` : path, found, content, async () => content);
    }),
  );
}

async function chatsInText(text: string, kind: Identification["kind"]): Promise<Found[]> {
  const json = jsonOf(text);
  // An answer of Anthropic is one value; a session has one per line.
  if (kind === "session" && json?.length !== 1) return [];
  return json ? chatsIn(json) : valuesInText(text);
}

/** Kinds as which `identify` names files with chats inside: a Bedrock body, an answer, or none at all. */
const holdsOthers = (found: Identification): boolean =>
  found.kind === "unknown" ||
  found.kind === "text" ||
  (found.kind === "loomFile" && found.format === "messages") ||
  (found.kind === "session" && found.format === "codex-v0");

async function itemOf(name: string, found: Identification, bytes: Bytes, read: () => Promise<Bytes>): Promise<Item> {
  const id = next++;
  const guess = guessOf(found);
  const most = MAX_VIEW_BYTES[guess.view ?? ""] ?? MAX_FILE_BYTES;
  sources.set(id, { name, found, bytes: read });
  return {
    id,
    name,
    ...guess,
    size: bytes.length,
    ...(await measured(found, bytes)),
    ...(bytes.length > most ? { view: undefined, problem: tooLarge(bytes.length, most) } : {}),
  };
}

/** Largest item whose messages are read for the list, in bytes; the tokens of a larger one are those of its text. */
const MAX_READ_BYTES = 2_000_000;

/** The tokens of an item, estimated, and its first words. */
async function measured(found: Identification, bytes: Bytes): Promise<{ tokens?: number; first: string }> {
  const part = decoder.decode(bytes.subarray(0, MAX_READ_BYTES));
  if (found.kind === "unknown") return { first: firstWords(part) };
  const { countTokens, transcriptToMessages } = await commitsArea();
  if (bytes.length <= MAX_READ_BYTES && (found.kind === "chat" || found.kind === "session")) {
    try {
      const chat = found.kind === "session" ? transcriptToMessages(found.format, bytes) : readRequest(part);
      const { total, messages: rows } = (await chatArea()).measureMessages(chat);
      const messages = messagesOf(chat as Request);
      const asked = messages.find((_, place) => rows[place]?.role === "user");
      return { tokens: total, first: firstWords(textOf(asked ?? messages[0])) };
    } catch {
      // Its view reports what is wrong with it.
    }
  }
  const share = bytes.length / Math.max(Math.min(bytes.length, MAX_READ_BYTES), 1);
  return { tokens: Math.round(countTokens(part) * share), first: firstWords(part) };
}

const firstWords = (text: string): string =>
  text
    .slice(0, 4 * FIRST_WORDS)
    .replaceAll(/\s+/gu, " ")
    .trim()
    .slice(0, FIRST_WORDS);

const api = {
  /** Reads files, and reports their items as they are read; `report` resolves once the page has them. */
  async add(added: readonly InputFile[], report: (items: Item[]) => void | Promise<void>): Promise<void> {
    for (const one of added) for await (const items of readFile(one)) await report(items);
  },

  /** The kind of several files by their paths; undefined if they identify nothing. */
  async paths(paths: readonly string[]): Promise<Guess | undefined> {
    const { identify } = await commitsArea();
    return guessOfPaths(identify([...paths]), paths.length === 1);
  },

  /** An item as a view opens it: `place` chooses a tree of an export. */
  async open(id: number, view: Target, place: number): Promise<OpenedItem> {
    const source = sources.get(id);
    if (!source) throw new Error("this item is no longer in memory: drop it again");
    const bytes = await source.bytes();
    const most = MAX_VIEW_BYTES[view] ?? MAX_FILE_BYTES;
    if (bytes.length > most && source.found.kind !== "session") throw new Error(tooLarge(bytes.length, most));
    return convert({ ...source, bytes }, view, place);
  },

  /** The content of an item, for the list of recent ones. */
  async content(id: number): Promise<Blob | undefined> {
    const source = sources.get(id);
    return source && new Blob([await source.bytes()]);
  },

  /** Forgets all items but these. */
  keep(ids: readonly number[]): void {
    for (const id of sources.keys()) if (!ids.includes(id)) sources.delete(id);
  },
};

export type Reader = typeof api;

expose(api);
