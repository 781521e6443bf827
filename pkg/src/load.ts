/** Turns every kind of source into a compiled module. */

import { CtxweaveError } from "./error.js";
import { here, instantiate, instantiateSync, isReady } from "./runtime.js";
import {
  asBytes,
  asFile,
  asModule,
  fromFileOrPacked,
  isA,
  isAddress,
  looksLikeHtml,
  type ReadFile,
  reasonOf,
} from "./source.js";
import type { PlatformRequest, PlatformResponse, PlatformUrl, WasmModule } from "./types/platform.js";

/** Sources for {@link initSync}: the bytes of `ctxweave.wasm`, or the module compiled from them. */
export type SyncInitSource = ArrayBuffer | ArrayBufferView<ArrayBuffer> | WasmModule;

/**
 * Sources for `init`: the location of `ctxweave.wasm` (an address, resolved as `fetch` does), a response with it, its
 * bytes, the module compiled from them, or a promise of any of these.
 */
export type InitSource = AsyncSource | PromiseLike<AsyncSource>;

type AsyncSource = string | PlatformUrl | PlatformRequest | PlatformResponse | SyncInitSource;

/**
 * Loads the WebAssembly module. Await it once before any other call. Idempotent, also while it loads; after a failure
 * the next call tries again. docs/loading.md describes each environment.
 *
 * @param source where the module comes from; defaults to the package's file, or to its packed form if a bundler left
 *   the file out
 * @throws {CtxweaveError} `wasm_load_failed`; `wasm_unavailable` if the runtime has no WebAssembly
 */
export async function init(source?: InitSource): Promise<void> {
  if (isReady()) return;
  // Concurrent calls share one load; a call after a failure tries again.
  here.loading ??= load(source).finally(() => {
    delete here.loading;
  });
  return here.loading;
}

/** Some hosts have no WebAssembly: an old engine, React Native, a browser in lockdown mode. */
function checkHost(): void {
  if (typeof (globalThis as { WebAssembly?: unknown }).WebAssembly === "object") return;
  throw new CtxweaveError(
    "wasm_unavailable",
    "this runtime has no `WebAssembly`; use a runtime or an engine that has it, or call ctxweave on a server",
    { missing: "WebAssembly" },
  );
}

async function load(source: InitSource | undefined): Promise<void> {
  checkHost();
  await instantiate(await (source === undefined ? compileStandard() : compileGiven(source)));
}

async function compileGiven(source: InitSource): Promise<WebAssembly.Module> {
  let given: AsyncSource;
  try {
    given = await source;
  } catch (cause) {
    const message = `the source of the WebAssembly module failed: ${reasonOf(cause)}; see that the promise passed to \`init\` resolves`;
    throw new CtxweaveError("wasm_load_failed", message, { reason: "no_source" }, { cause });
  }
  return compile(given, here.standard?.readFile);
}

async function compileStandard(): Promise<WebAssembly.Module> {
  if (!here.standard) throw nothingToLoad();
  const { file, packed, readFile } = here.standard;
  return fromFileOrPacked(async () => compile(await addressOf(file), readFile), packed, compileBytes);
}

function addressOf(file: () => InitSource): InitSource {
  try {
    return file();
  } catch (cause) {
    throw new CtxweaveError(
      "wasm_load_failed",
      `the location of the WebAssembly module is unknown: ${reasonOf(cause)}; pass the bytes or the address of \`ctxweave.wasm\` to \`init\``,
      { reason: "no_address" },
      { cause },
    );
  }
}

/**
 * Initializes from bytes or a compiled module, synchronously. Idempotent.
 *
 * @throws {CtxweaveError} `wasm_load_failed`
 */
export function initSync(source: SyncInitSource): void {
  if (isReady()) return;
  checkHost();
  const compiled = asModule(source);
  if (compiled) return instantiateSync(compiled);
  const bytes = toBytes(source);
  checkMagic(bytes);
  let module: WebAssembly.Module;
  try {
    module = new WebAssembly.Module(bytes);
  } catch (cause) {
    throw cannotCompile(cause);
  }
  instantiateSync(module);
}

async function compile(source: AsyncSource | undefined, readFile: ReadFile | undefined): Promise<WebAssembly.Module> {
  const compiled = asModule(source);
  if (compiled) return compiled;
  const bytes = asBytes(source, "source");
  if (bytes) return compileBytes(bytes);
  if (isAddress(source)) {
    const file = readFile ? asFile(source) : undefined;
    return file ? compileFile(readFile as ReadFile, file) : compileResponse(await get(source));
  }
  if (isA(source, () => Response)) return compileResponse(source);
  throw nothingToLoad();
}

async function compileFile(readFile: ReadFile, file: URL): Promise<WebAssembly.Module> {
  let bytes: ReturnType<ReadFile>;
  try {
    bytes = readFile(file);
    // Awaited as late as possible: meanwhile the engine's threads compile and the vocabulary is read.
    if (bytes instanceof Promise) bytes = await bytes;
  } catch (cause) {
    throw new CtxweaveError(
      "wasm_load_failed",
      `the WebAssembly module could not be read from \`${file.href}\`: ${reasonOf(cause)}; if a bundler moved the code away from it, pass its bytes or address to \`init\`, or import \`ctxweave/inline\``,
      { reason: "not_readable", url: file.href },
      { cause },
    );
  }
  return compileBytes(bytes, file.href);
}

async function get(source: string | URL | Request): Promise<Response> {
  try {
    return await fetch(source);
  } catch (cause) {
    throw notFetched(source instanceof Request ? source.url : String(source), cause);
  }
}

function notFetched(url: string, cause: unknown): CtxweaveError {
  return new CtxweaveError(
    "wasm_load_failed",
    `the WebAssembly module could not be fetched from \`${url}\`: ${reasonOf(cause)}; pass its address to \`init\`, or import \`ctxweave/inline\``,
    { reason: "not_fetched", url },
    { cause },
  );
}

async function compileResponse(response: Response): Promise<WebAssembly.Module> {
  const { url, status } = response;
  if (!response.ok) {
    throw new CtxweaveError(
      "wasm_load_failed",
      `the server answered ${status} to the request for the WebAssembly module at \`${url}\`; copy \`ctxweave.wasm\` of the package there, or pass its address to \`init\``,
      { reason: "http_status", status, url },
    );
  }
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("application/wasm") && typeof WebAssembly.compileStreaming === "function") {
    try {
      return await WebAssembly.compileStreaming(response);
    } catch (cause) {
      throw cannotCompile(cause, url);
    }
  }
  const body = await response.arrayBuffer().catch((cause: unknown) => {
    throw notFetched(url, cause);
  });
  return compileBytes(new Uint8Array(body), url);
}

async function compileBytes(bytes: Uint8Array<ArrayBuffer>, url?: string): Promise<WebAssembly.Module> {
  checkMagic(bytes, url);
  try {
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    throw cannotCompile(cause, url);
  }
}

function checkMagic(bytes: Uint8Array, url?: string): void {
  const magic = [0x00, 0x61, 0x73, 0x6d];
  if (magic.every((byte, at) => bytes[at] === byte)) return;
  const from = url ? ` from \`${url}\`` : "";
  if (looksLikeHtml(bytes)) {
    throw new CtxweaveError(
      "wasm_load_failed",
      `an HTML page came${from} instead of the WebAssembly module, which the server does not have there; with Vite add \`optimizeDeps: { exclude: ["ctxweave"] }\` to its configuration, otherwise pass the address of \`ctxweave.wasm\` to \`init\`, or import \`ctxweave/inline\``,
      { reason: "html", ...(url && { url }) },
    );
  }
  throw new CtxweaveError(
    "wasm_load_failed",
    `the data${from} is not a WebAssembly module: it does not begin with \`\\0asm\`; pass the bytes or the address of \`ctxweave.wasm\``,
    { reason: "not_wasm", ...(url && { url }) },
  );
}

function cannotCompile(cause: unknown, url?: string): CtxweaveError {
  return new CtxweaveError(
    "wasm_load_failed",
    `the WebAssembly module could not be compiled: ${reasonOf(cause)}; check that the file is complete and that this runtime may compile WebAssembly (a content security policy needs \`wasm-unsafe-eval\`; Workers compile nothing: import \`ctxweave\` there, not \`ctxweave/inline\`)`,
    { reason: "not_compiled", ...(url && { url }) },
    { cause },
  );
}

function toBytes(source: unknown): Uint8Array<ArrayBuffer> {
  const bytes = asBytes(source, "source");
  if (bytes) return bytes;
  throw nothingToLoad();
}

function nothingToLoad(): CtxweaveError {
  return new CtxweaveError(
    "wasm_load_failed",
    "no source for the WebAssembly module; pass its address, its bytes, a `Response` or a `WebAssembly.Module`",
    { reason: "no_source" },
  );
}
