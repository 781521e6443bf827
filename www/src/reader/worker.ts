/** The worker that reads dropped files, so that the page stays responsive. */

import { expose } from "comlink";
import type { Identification } from "ctxweave/commits";
import { chatArea, commitsArea } from "./areas.js";
import { asUtf8, binaryFormat, MAX_FILE_BYTES, MAX_VIEW_BYTES, tooLarge } from "./bytes.js";
import { convert, type OpenedItem } from "./convert.js";
import { guessOf, guessOfPaths, type Guess, type Target } from "./kinds.js";
import { valuesInText } from "./script.js";
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

/** Resolves once the page has the items. */
type Report = (items: Item[]) => void | Promise<void>;

async function readFile({ path, file }: InputFile, report: Report): Promise<void> {
  try {
    const head = new Uint8Array(await file.slice(0, 4100).arrayBuffer());
    const format = await binaryFormat(head);
    if (format?.ext === "zip" && file.size <= MAX_ARCHIVE_BYTES) return await readArchive(path, file, report);
    if (format?.ext === "gz") {
      const plain = file.stream().pipeThrough(new DecompressionStream("gzip"));
      return await readFile({ path: path.replace(/\.gz$/u, ""), file: await new Response(plain).blob() }, report);
    }
    if (format) return await report([refused(path, file.size, format.what)]);
    if (file.size > MAX_FILE_BYTES) return await report([refusedAsLarge(path, file.size)]);
    const read = async (): Promise<Bytes> => asUtf8(new Uint8Array(await file.arrayBuffer()));
    return await report(await itemsIn(path, await read(), read));
  } catch (error) {
    return await report([refused(path, file.size, "a file that cannot be read", (error as Error).message)]);
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
async function readArchive(path: string, file: Blob, report: Report): Promise<void> {
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
    return await report([refused(path, file.size, "an Office document (.docx, .xlsx or .pptx)")]);
  }
  for (const { name, size } of entries.slice(0, MAX_ARCHIVE_FILES)) {
    const inner = `${path}/${name}`;
    const media = /\.(png|jpe?g|gif|webp|heic|mp[34]|m4a|wav|webm|mov|pdf)$/iu.exec(name)?.[1];
    if (size > MAX_FILE_BYTES) await report([refusedAsLarge(inner, size)]);
    else if (media) await report([refused(inner, size, `a media file (.${media.toLowerCase()})`)]);
    else {
      // An archive is decompressed once per file, so that only one of them is in memory.
      const bytes = unzipSync(archive, { filter: (entry) => entry.name === name })[name] as Bytes;
      await readFile({ path: inner, file: new Blob([bytes]) }, report);
    }
  }
  const more = entries.length - MAX_ARCHIVE_FILES;
  if (more > 0)
    await report([refused(path, file.size, `an archive with ${more} more files`, "extract it and drop its folder")]);
  return undefined;
}

/** A file of one item, or the requests in it. */
async function itemsIn(path: string, bytes: Bytes, read: () => Promise<Bytes>): Promise<Item[]> {
  const { identify } = await commitsArea();
  const found = identify(bytes, { path });
  if (holdsOthers(found)) {
    const text = decoder.decode(bytes);
    const json = jsonOf(text);
    // An answer of Anthropic is one value; a session has one per line.
    const isSession = found.kind === "session" && json?.length !== 1;
    const inside = isSession ? [] : json ? chatsIn(json) : await valuesInText(text);
    // A literal can be any of the shapes; a value is written as JSON, which every view reads.
    const values = inside.flatMap((one) => {
      const direct = identify(one.value as object);
      if (direct.kind !== "unknown" && !holdsOthers(direct)) return [{ ...one, found: direct }];
      return chatsIn([one.value]).map((inner) => ({ ...inner, found: identify(inner.value as object) }));
    });
    const known = values.filter(({ found: { kind } }) => kind !== "unknown" && kind !== "text");
    if (known.length > 0) {
      return await Promise.all(
        known.map(({ name, value, found }) => {
          const content = encoder.encode(JSON.stringify(value));
          return itemOf(name ? `${path}: ${name}` : path, found, content, async () => content);
        }),
      );
    }
  }
  return [await itemOf(path, found, bytes, read)];
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
  const { tokens, first } = await measured(found, bytes);
  return {
    id,
    name,
    ...guess,
    size: bytes.length,
    first,
    ...(tokens === undefined ? {} : { tokens }),
    ...(bytes.length > most ? { view: undefined, problem: tooLarge(bytes.length, most) } : {}),
  };
}

/** Largest item whose messages are read for the list, in bytes; the tokens of a larger one are those of its text. */
const MAX_READ_BYTES = 2_000_000;

/** The tokens of an item, estimated, and its first words. */
async function measured(found: Identification, bytes: Bytes): Promise<{ tokens?: number; first: string }> {
  const words = (text: string): string =>
    text
      .slice(0, 4 * FIRST_WORDS)
      .replaceAll(/\s+/gu, " ")
      .trim()
      .slice(0, FIRST_WORDS);
  const text = decoder.decode(bytes.subarray(0, MAX_READ_BYTES));
  if (found.kind === "unknown") return { first: words(text) };
  const { countTokens, transcriptToMessages } = await commitsArea();
  if (bytes.length <= MAX_READ_BYTES && (found.kind === "chat" || found.kind === "session")) {
    try {
      const chat =
        found.kind === "session"
          ? transcriptToMessages(found.format, bytes)
          : (JSON.parse(text.replace(/^\uFEFF/u, "")) as object);
      const { messages, contents, input } = chat as Partial<Record<"messages" | "contents" | "input", unknown[]>>;
      const list = messages ?? contents ?? input;
      const said = firstText(Array.isArray(list) ? list : chat);
      const { fitMessages } = await chatArea();
      const body = Array.isArray(input) ? (list as unknown[]) : (chat as unknown[]);
      return { tokens: fitMessages(body, { maxTokens: 1e9, repair: "off" }).report.tokens.total, first: words(said) };
    } catch {
      // Its view reports what is wrong with it.
    }
  }
  const part = countTokens(text);
  return {
    tokens: Math.round((part * bytes.length) / Math.max(Math.min(bytes.length, MAX_READ_BYTES), 1)),
    first: words(text),
  };
}

/** The first text in a value that is not a role or an id. */
function firstText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) {
    const users = value.find((one) => ["user", "human"].includes((one as { role?: string } | null)?.role ?? ""));
    return firstText(users ?? value[0]);
  }
  const { content, parts, text } = (value ?? {}) as Record<string, unknown>;
  const inner = content ?? parts ?? text;
  return inner === undefined ? "" : firstText(inner);
}

const api = {
  /** Reads files, and reports their items as they are read. */
  async add(given: readonly InputFile[], report: Report): Promise<void> {
    for (const one of given) await readFile(one, report);
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
