/** The vocabulary assets: how they are brought, and loaded once. */

import { checkedOptions, invalid } from "./api/checked.js";
import { type Instance, initsUnderWay, instances, notInitialized } from "./areas.js";
import { CtxweaveError } from "./error.js";
import {
  asBytes,
  asFile,
  asModule,
  fromFileOrPacked,
  isAddress,
  looksLikeHtml,
  type ReadFile,
  reasonOf,
  type Standard,
} from "./source.js";
import type { Encoding } from "./types/common.js";
import type { PlatformRequest, PlatformResponse, PlatformUrl, WasmModule } from "./types/platform.js";

/**
 * Where an asset is: an address, resolved as `fetch` does, an answer to a request for it, its bytes, the compiled module that has it
 * as its section `vocab`, or a promise of any of these.
 */
export type VocabularySource = AsyncSource | PromiseLike<AsyncSource>;

type AsyncSource =
  string | PlatformUrl | PlatformRequest | PlatformResponse | ArrayBuffer | ArrayBufferView | WasmModule;

/** How to bring an asset. */
export interface VocabularyOptions {
  /** Where it comes from; by default it is the package's own file, or its packed form where a bundler has left that behind. */
  source?: VocabularySource;
  /**
   * Called with the bytes that have come so far and with how many there will be, where that is known, as they come over
   * the network; for what is not streamed once, at the end.
   */
  onProgress?(loaded: number, total: number | undefined): void;
}

/** One vocabulary. */
export interface Vocabulary {
  /**
   * Loads the vocabulary, so that its name can be given as `tokenizer`, into every entry point of the package that is
   * initialised and can have it: all can have `o200k_base` and `cl100k_base`. Needs `init`, which may still be under way: `await Promise.all([init(), load()])`. Calling it again is
   * harmless, also while it loads; after a failure the next call tries again.
   *
   * @throws {CtxweaveError} `not_initialized`, `vocabulary_not_loaded` when the asset cannot be had, `invalid_vocabulary`
   *   when what came is something else or damaged
   */
  load(options?: VocabularyOptions): Promise<void>;
  /**
   * The bytes of the asset, for `loadVocabulary` elsewhere. They are brought again each time.
   *
   * @throws {CtxweaveError} `vocabulary_not_loaded` when they cannot be had
   */
  bytes(options?: VocabularyOptions): Promise<Uint8Array<ArrayBuffer>>;
}

const OPTIONS = ["source", "onProgress"] as const;

/** The files of the encodings that differ from another one in special tokens alone. */
const SHARED: Partial<Record<Encoding, Encoding>> = {
  o200k_harmony: "o200k_base",
  p50k_edit: "p50k_base",
  gpt2: "r50k_base",
};

/** Those of `ctxweave-vocab`. */
const OLDER: readonly Encoding[] = ["p50k_base", "p50k_edit", "r50k_base", "gpt2"];

const fileOf = (name: Encoding): string => `${SHARED[name] ?? name}.bin`;

const exportOf = (name: Encoding): string =>
  `${OLDER.includes(name) ? "ctxweave-vocab" : "ctxweave/vocab"}/${fileOf(name)}`;

type Progress = NonNullable<VocabularyOptions["onProgress"]>;

/** Makes what one module `ctxweave/vocab/*` exports. `standard` says where the asset is when the caller does not. */
export function createVocabulary(name: Encoding, standard: Standard<VocabularySource>): Vocabulary {
  let pending: Promise<void> | undefined;
  const watching = new Set<Progress>();
  /** Those of areas that cannot have it. */
  const without = new WeakSet<Instance>();
  const has = (instance: Instance): boolean => instance.hasVocabulary(name);
  const isDone = (): boolean =>
    instances().some(has) && instances().every((instance) => has(instance) || without.has(instance));

  async function bytes(options: VocabularyOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const { source, onProgress } = checkedOptions(options, OPTIONS);
    return brought(source, onProgress ?? (() => undefined));
  }

  /** The bytes, of the caller's source or of the package's own file. */
  async function brought(source: VocabularySource | undefined, progress: Progress): Promise<Uint8Array<ArrayBuffer>> {
    const { file, packed, readFile } = standard;
    if (source !== undefined) return bring(name, await source, progress, readFile);
    const fromFile = async (): ReturnType<typeof bring> => bring(name, await addressOf(name, file), progress, readFile);
    return fromFileOrPacked(fromFile, packed, (bytes) => whole(bytes, progress));
  }

  async function loadNow(source: VocabularySource | undefined): Promise<void> {
    const progress: Progress = (loaded, total) => watching.forEach((watch) => watch(loaded, total));
    const from = await source;
    const asset = await brought(from, progress);
    await Promise.allSettled(initsUnderWay());
    if (instances().length === 0) throw notInitialized();
    // What becomes of a caller's buffer is the caller's business; what was read here is nobody else's.
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
    // It is for those of the areas that are initialised that can have it.
    if (!instances().some(has)) throw refused;
  }

  async function load(options: VocabularyOptions = {}): Promise<void> {
    const { source, onProgress } = checkedOptions(options, OPTIONS);
    if (initsUnderWay().length === 0 && isDone()) return;
    if (onProgress) watching.add(onProgress);
    // Whoever comes while it loads waits for the same load.
    pending ??= loadNow(source).finally(() => {
      pending = undefined;
      watching.clear();
    });
    return pending;
  }

  return { load, bytes };
}

function addressOf(name: Encoding, file: () => VocabularySource): VocabularySource {
  try {
    return file();
  } catch (cause) {
    throw new CtxweaveError(
      "vocabulary_not_loaded",
      `the code cannot tell where the vocabulary \`${name}\` is: ${reasonOf(cause)}; pass the bytes or the address of \`${fileOf(name)}\` as \`source\``,
      { tokenizer: name, reason: "no_address" },
      { cause },
    );
  }
}

/** The section of a module that is a vocabulary. */
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
    const section = WebAssembly.Module.customSections(module, SECTION)[0];
    return whole(new Uint8Array(section ?? new ArrayBuffer()), progress);
  }
  if (isAddress(source)) {
    const file = readFile ? asFile(source) : undefined;
    if (!file) return body(name, await get(name, source), progress);
    return whole(await read(name, readFile as ReadFile, file), progress);
  }
  if (typeof Response === "function" && source instanceof Response) return body(name, source, progress);
  throw new CtxweaveError(
    "vocabulary_not_loaded",
    `nothing to load the vocabulary \`${name}\` from: pass the address of its asset, its bytes or a \`Response\``,
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

/** A part of the body of a response that the caller made. */
const CHUNK = "options.source.body";

function isPage(name: Encoding, url: string): CtxweaveError {
  return new CtxweaveError(
    "invalid_vocabulary",
    `an HTML page came from \`${url}\` instead of the vocabulary \`${name}\`: the server does not have it there; with Vite add \`optimizeDeps: { exclude: ["ctxweave"] }\` to its configuration, else pass the address of \`${fileOf(name)}\` as \`source\``,
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
      // Nobody waits for the rest.
      void reader.cancel().catch(() => undefined);
      throw isPage(name, response.url);
    }
    chunks.push(value);
    loaded += value.length;
    // A total that does not hold is none.
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
    // The body was read already.
    throw notFetched(name, response.url, cause);
  }
}

/** The length that the server states, unless it is that of the compressed file. */
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
