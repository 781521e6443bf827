/** The vocabulary assets: fetched from their source, and loaded once. */

import { checkedFunction, checkedOptions, invalid } from "./api/checked.js";
import { type Instance, initsUnderWay, instances, notInitialized } from "./areas.js";
import { CtxweaveError } from "./error.js";
import {
  asBytes,
  asFile,
  asModule,
  fromFileOrPacked,
  guarded,
  isA,
  isAddress,
  looksLikeHtml,
  type ReadFile,
  reasonOf,
  type Standard,
} from "./source.js";
import type { Encoding } from "./types/common.js";
import type { PlatformRequest, PlatformResponse, PlatformUrl, WasmModule } from "./types/platform.js";

/**
 * Location of an asset: an address, resolved as `fetch` does, a response with it, its bytes, the compiled module that
 * has it as its section `vocab`, or a promise of any of these.
 */
export type VocabularySource = AsyncSource | PromiseLike<AsyncSource>;

type AsyncSource =
  string | PlatformUrl | PlatformRequest | PlatformResponse | ArrayBuffer | ArrayBufferView | WasmModule;

/** How to fetch an asset. */
export interface VocabularyOptions {
  /** Where it comes from. Defaults to the package's file, or to its packed form if a bundler left the file out. */
  source?: VocabularySource | undefined;
  /**
   * Called as bytes arrive over the network, with the number of bytes so far and the total if known; for other sources
   * once, at the end.
   */
  onProgress?(loaded: number, total: number | undefined): void;
}

/** One vocabulary. */
export interface Vocabulary {
  /**
   * Loads the vocabulary, so that its name is valid as `tokenizer`, into every initialized entry point of the package
   * that counts tokens. Needs `init`, which may still be pending: `await Promise.all([init(), load()])`. Idempotent,
   * also while it loads; after a failure the next call tries again.
   *
   * @throws {CtxweaveError} `not_initialized`; `vocabulary_not_loaded` if the asset cannot be fetched;
   *   `invalid_vocabulary` if it is damaged or not a vocabulary
   */
  load(options?: VocabularyOptions): Promise<void>;
  /**
   * The bytes of the asset, for `loadVocabulary` elsewhere. Fetched again on each call.
   *
   * @throws {CtxweaveError} `vocabulary_not_loaded` if they cannot be fetched
   */
  bytes(options?: VocabularyOptions): Promise<Uint8Array<ArrayBuffer>>;
}

const OPTIONS = ["source", "onProgress"] as const;

/** The files of encodings that differ from another one only in special tokens. */
const SHARED: Partial<Record<Encoding, Encoding>> = {
  o200k_harmony: "o200k_base",
  p50k_edit: "p50k_base",
  gpt2: "r50k_base",
};

/** The vocabularies of `ctxweave-vocab`. */
const OLDER: readonly Encoding[] = ["p50k_base", "p50k_edit", "r50k_base", "gpt2"];

const fileOf = (name: Encoding): string => `${SHARED[name] ?? name}.bin`;

const exportOf = (name: Encoding): string =>
  `${OLDER.includes(name) ? "ctxweave-vocab" : "ctxweave/vocab"}/${fileOf(name)}`;

type Progress = NonNullable<VocabularyOptions["onProgress"]>;

/** Creates the exports of one module `ctxweave/vocab/*`. `standard` locates the asset if the caller does not. */
export function createVocabulary(name: Encoding, standard: Standard<VocabularySource>): Vocabulary {
  let pending: Promise<void> | undefined;
  const watching = new Set<Progress>();
  /** Instances of areas that do not support it. */
  const without = new WeakSet<Instance>();
  const has = (instance: Instance): boolean => instance.hasVocabulary(name);
  const isDone = (): boolean =>
    instances().some(has) && instances().every((instance) => has(instance) || without.has(instance));

  async function bytes(options: VocabularyOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const { source, onProgress } = checkedOptions(options, OPTIONS);
    const progress = checkedFunction(onProgress, "options.onProgress") ?? (() => undefined);
    return brought(await givenBy(name, source), progress);
  }

  /** Fetches the bytes from the caller's source or the package's file. */
  async function brought(source: AsyncSource | undefined, progress: Progress): Promise<Uint8Array<ArrayBuffer>> {
    const { file, packed, readFile } = standard;
    if (source !== undefined) return bring(name, source, progress, readFile);
    const fromFile = async (): ReturnType<typeof bring> => bring(name, await addressOf(name, file), progress, readFile);
    return fromFileOrPacked(fromFile, packed, (bytes) => whole(bytes, progress));
  }

  async function loadNow(source: VocabularySource | undefined): Promise<void> {
    const progress: Progress = (loaded, total) => watching.forEach((watch) => watch(loaded, total));
    const from = await givenBy(name, source);
    const asset = await brought(from, progress);
    await Promise.allSettled(initsUnderWay());
    if (instances().length === 0) throw notInitialized();
    // The caller may change their buffer; bytes that were read here are not shared.
    const kept = asBytes(from, "options.source") ? asset.slice() : asset;
    let refused: unknown;
    for (const instance of instances()) {
      if (has(instance)) continue;
      try {
        instance.keepVocabulary(name, kept);
      } catch (error) {
        if (!(error instanceof CtxweaveError && error.code === "unknown_value")) throw error;
        without.add(instance);
        refused = error;
      }
    }
    // Rejected only if no initialized area supports it.
    if (!instances().some(has)) throw refused;
  }

  async function load(options: VocabularyOptions = {}): Promise<void> {
    const { source, onProgress } = checkedOptions(options, OPTIONS);
    checkedFunction(onProgress, "options.onProgress");
    if (initsUnderWay().length === 0 && isDone()) return;
    if (onProgress) watching.add(onProgress);
    // Concurrent calls share one load.
    pending ??= loadNow(source).finally(() => {
      pending = undefined;
      watching.clear();
    });
    return pending;
  }

  return { load, bytes };
}

async function givenBy(name: Encoding, source: VocabularySource | undefined): Promise<AsyncSource | undefined> {
  try {
    return await source;
  } catch (cause) {
    const message = `the source of the vocabulary \`${name}\` failed: ${reasonOf(cause)}; see that the promise passed as \`source\` resolves`;
    throw new CtxweaveError("vocabulary_not_loaded", message, { tokenizer: name, reason: "no_source" }, { cause });
  }
}

function addressOf(name: Encoding, file: () => VocabularySource): VocabularySource {
  try {
    return file();
  } catch (cause) {
    throw new CtxweaveError(
      "vocabulary_not_loaded",
      `the location of the vocabulary \`${name}\` is unknown: ${reasonOf(cause)}; pass the bytes or the address of \`${fileOf(name)}\` as \`source\``,
      { tokenizer: name, reason: "no_address" },
      { cause },
    );
  }
}

/** The section of a module that holds a vocabulary. */
const SECTION = "vocab";

async function bring(
  name: Encoding,
  source: AsyncSource,
  progress: Progress,
  readFile: ReadFile | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = asBytes(source, "options.source");
  if (bytes) return whole(bytes, progress);
  const module = asModule(source);
  if (module) {
    const section = guarded("options.source", () => WebAssembly.Module.customSections(module, SECTION)[0]);
    return whole(new Uint8Array(section ?? new ArrayBuffer()), progress);
  }
  if (isAddress(source)) {
    const file = readFile ? asFile(source) : undefined;
    if (!file) return body(name, await get(name, source), progress);
    return whole(await read(name, readFile as ReadFile, file), progress);
  }
  if (isA(source, () => Response)) return body(name, source, progress);
  throw new CtxweaveError(
    "vocabulary_not_loaded",
    `no source for the vocabulary \`${name}\`; pass the address of its asset, its bytes or a \`Response\``,
    { tokenizer: name, reason: "no_source" },
  );
}

function whole(bytes: Uint8Array<ArrayBuffer>, progress: Progress): Uint8Array<ArrayBuffer> {
  progress(bytes.length, bytes.length);
  return bytes;
}

async function read(name: Encoding, readFile: ReadFile, file: URL): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw new CtxweaveError(
      "vocabulary_not_loaded",
      `the vocabulary \`${name}\` could not be read from \`${file.href}\`: ${reasonOf(cause)}; if a bundler moved the code away from it, pass \`source\`, the bytes or address of \`${exportOf(name)}\``,
      { tokenizer: name, reason: "not_readable", url: file.href },
      { cause },
    );
  }
}

async function get(name: Encoding, source: string | URL | Request): Promise<Response> {
  try {
    return await fetch(source);
  } catch (cause) {
    const url = source instanceof Request ? source.url : String(source);
    throw notFetched(name, url, cause);
  }
}

async function body(name: Encoding, response: Response, progress: Progress): Promise<Uint8Array<ArrayBuffer>> {
  const { url, status } = response;
  if (!response.ok) {
    throw new CtxweaveError(
      "vocabulary_not_loaded",
      `the server answered ${status} to the request for the vocabulary \`${name}\` at \`${url}\`; copy \`${fileOf(name)}\` of the package there, or pass its address as \`source\``,
      { tokenizer: name, reason: "http_status", status, url },
    );
  }
  return streamed(name, response, progress);
}

/** Path, in errors, of a chunk from the body of the caller's response. */
const CHUNK = "options.source.body";

function isPage(name: Encoding, url: string): CtxweaveError {
  return new CtxweaveError(
    "invalid_vocabulary",
    `an HTML page came from \`${url}\` instead of the vocabulary \`${name}\`, which the server does not have there; with Vite add \`optimizeDeps: { exclude: ["ctxweave"] }\` to its configuration, otherwise pass the address of \`${fileOf(name)}\` as \`source\``,
    { tokenizer: name, reason: "html", url },
  );
}

async function streamed(name: Encoding, response: Response, progress: Progress): Promise<Uint8Array<ArrayBuffer>> {
  const total = totalOf(response);
  const chunks: Uint8Array[] = [];
  let loaded = 0;
  const reader = readerOf(name, response);
  while (reader) {
    const { done, value: chunk } = await reader.read().catch((cause: unknown) => {
      throw notFetched(name, response.url, cause);
    });
    if (done) break;
    const value = asBytes(chunk, CHUNK);
    if (!value) throw invalid(CHUNK, "bytes");
    if (loaded === 0 && looksLikeHtml(value)) {
      // The rest is not needed.
      void reader.cancel().catch(() => undefined);
      throw isPage(name, response.url);
    }
    chunks.push(value);
    loaded += value.length;
    // A total that turned out wrong is dropped.
    progress(loaded, total !== undefined && loaded <= total ? total : undefined);
  }
  const bytes = new Uint8Array(loaded);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(asBytes(chunk, CHUNK) ?? chunk, at);
    at += chunk.length;
  }
  if (loaded !== total) progress(loaded, loaded);
  return bytes;
}

function readerOf(name: Encoding, response: Response): ReadableStreamDefaultReader<unknown> | undefined {
  try {
    return response.body?.getReader();
  } catch (cause) {
    // The body was already consumed.
    throw notFetched(name, response.url, cause);
  }
}

/** The length that the server states, unless the file is compressed. */
function totalOf({ headers }: Response): number | undefined {
  const encoding = headers.get("content-encoding") ?? "identity";
  const length = Number(headers.get("content-length") ?? Number.NaN);
  return encoding === "identity" && Number.isInteger(length) ? length : undefined;
}

function notFetched(name: Encoding, url: string, cause: unknown): CtxweaveError {
  return new CtxweaveError(
    "vocabulary_not_loaded",
    `the vocabulary \`${name}\` could not be fetched from \`${url}\`: ${reasonOf(cause)}; pass the address of \`${fileOf(name)}\` or its bytes as \`source\``,
    { tokenizer: name, reason: "not_fetched", url },
    { cause },
  );
}
