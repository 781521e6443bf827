/**
 * The loaded instance of an area. Its entry points for different runtimes share this module and its instance: loading
 * one initializes all.
 */

import { area, notInitialized } from "./areas.js";
import { decoderOf } from "./coders.js";
import { takeFailure } from "./counter.js";
import { CtxweaveError } from "./error.js";
import * as glue from "./glue.js";
import { reasonOf } from "./source.js";
import type { ErrorCode } from "./types/common.js";
import type { WasmModule } from "./types/platform.js";
import { version } from "./version.js";

/** The functions that the wasm exports. */
export type Raw = typeof glue;

/** This area. The build replaces `AREA` by its name. */
export const here = area(AREA);

let ready = false;

/** Whether the module counts tokens; `import` only reads files. */
const counts = AREA !== "import";

/** Number of instances so far. Handles of an earlier instance are invalid in the current one. */
let instances = 0;

/** Number of the current instance. */
export function instance(): number {
  return instances;
}

/** Whether an instance exists. */
export function isReady(): boolean {
  return ready;
}

/** Creates the instance synchronously, unless it exists. On the main thread browsers allow that up to 8 MB only. */
export function instantiateSync(module: WasmModule): void {
  if (ready) return;
  checkVersion(module);
  try {
    glue.initSync({ module });
  } catch (cause) {
    throw notInstantiated(cause);
  }
  begin();
}

/** Creates the instance, unless it exists. */
export async function instantiate(module: WasmModule): Promise<void> {
  if (ready) return;
  checkVersion(module);
  try {
    glue.initSync({ module });
  } catch (cause) {
    // On the main thread browsers instantiate a module over 8 MB only asynchronously.
    await glue.initAsync({ module_or_path: module }).catch(() => {
      throw notInstantiated(cause);
    });
  }
  begin();
}

function begin(): void {
  ready = true;
  instances += 1;
  here.instance = { hasVocabulary, keepVocabulary: counts ? keepVocabulary : refuseVocabulary };
  restoreVocabularies();
}

function notInstantiated(cause: unknown): CtxweaveError {
  return new CtxweaveError(
    "wasm_load_failed",
    `the WebAssembly module could not be started: ${reasonOf(cause)}; see that the process has memory left, and in a browser use \`await init()\`, not \`initSync\`, for a large module`,
    { reason: "not_instantiated" },
    { cause },
  );
}

/**
 * The loaded vocabularies, kept in case the instance has to be replaced: the caller may have released them, and
 * counting must continue.
 */
const vocabularies = new Map<string, Uint8Array>();

/** A module that counts no tokens does not have this function. */
function load(raw: Raw, name: string, asset: Uint8Array): void {
  raw.loadVocabulary(name, asset);
}

/** Whether the vocabulary is loaded. */
function hasVocabulary(name: string): boolean {
  return vocabularies.has(name);
}

/** Loads a vocabulary into this instance and its replacements. The asset must not change afterwards. */
export function keepVocabulary(name: string, asset: Uint8Array): void {
  call((raw) => load(raw, name, asset));
  vocabularies.set(name, asset);
}

function refuseVocabulary(name: string): never {
  throw new CtxweaveError("unknown_value", `\`ctxweave/${AREA}\` counts no tokens and takes no vocabulary`, {
    value: name,
    expected: [],
  });
}

function restoreVocabularies(): void {
  for (const [name, asset] of vocabularies) {
    try {
      load(glue, name, asset);
    } catch {
      // It can be loaded again; until then counting reports it as missing.
      vocabularies.delete(name);
    }
  }
}

/**
 * The build writes the version into a custom section of the module, so that a stale or foreign file is rejected before
 * it is instantiated: the glue keeps its first instance forever.
 */
function checkVersion(module: WasmModule): void {
  const section = sectionOf(module);
  if (section === undefined) {
    throw new CtxweaveError(
      "wasm_load_failed",
      "the WebAssembly module is not ctxweave's; pass `init` the file that the package ships as `ctxweave/ctxweave.wasm`",
      { reason: "not_ctxweave" },
    );
  }
  const found = decoderOf("utf-8").decode(section);
  if (found !== version) {
    throw new CtxweaveError(
      "wasm_load_failed",
      `the WebAssembly module is of version ${found} and the package of version ${version}; serve the \`ctxweave.wasm\` of the installed package`,
      { reason: "version_mismatch", found, expected: version },
    );
  }
}

/** The section with the version; missing in a `Proxy` of a module as well. */
function sectionOf(module: WasmModule): ArrayBuffer | undefined {
  try {
    return WebAssembly.Module.customSections(module, "ctxweave")[0];
  } catch {
    return undefined;
  }
}

/** Number of active calls. */
let calls = 0;

/** Something in an instance of the module. */
export interface Resident {
  /** Number of the instance that contains it. */
  instance: number;
  /** The error if that instance was replaced. */
  lost(): CtxweaveError;
}

/**
 * Calls into the wasm; converts everything thrown into a {@link CtxweaveError}. Throws that of `resident` if it is
 * lost: the caller's code may call `reset` while their data is read, and a call with an address in the old memory would
 * corrupt the new one.
 */
export function call<T>(run: (raw: Raw) => T, resident?: Resident): T {
  if (!ready) throw notInitialized();
  if (resident && resident.instance !== instances) throw resident.lost();
  calls += 1;
  try {
    return run(glue);
  } catch (thrown) {
    if (thrown instanceof CtxweaveError) throw thrown;
    if (!isPlainError(thrown)) throw recover(thrown);
    const { code, message, details } = thrown;
    throw new CtxweaveError(code, message, details, code === "tokenizer_failed" ? takeFailure() : undefined);
  } finally {
    calls -= 1;
  }
}

/**
 * Replaces the instance by a new one and thereby releases its memory, which WebAssembly can only grow. Loaded
 * vocabularies stay loaded. Handles of the old instance, such as a `LoomTree` or a `Chat`, throw `handle_lost`. A no-op
 * before `init`.
 *
 * @throws {CtxweaveError} `handle_busy` in a custom tokenizer; `wasm_load_failed` if no new instance can be made: call
 *   `init` again
 */
export function reset(): void {
  if (!ready) return;
  if (calls > 0) {
    throw new CtxweaveError("handle_busy", "re-entrant call: the module is in use; call `reset` when no call runs");
  }
  try {
    replace();
  } catch (cause) {
    lose();
    throw notInstantiated(cause);
  }
}

/** Starts a new instance. The old one and its memory are garbage. */
function replace(): void {
  instances += 1;
  glue.__wbg_reset_state();
  restoreVocabularies();
}

/** There is no instance until the next `init`. */
function lose(): void {
  ready = false;
  delete here.instance;
}

/** The shape of errors thrown by src/wasm. */
interface PlainError {
  code: ErrorCode;
  message: string;
  details: Record<string, unknown>;
}

function isPlainError(thrown: unknown): thrown is PlainError {
  return (
    typeof thrown === "object" &&
    thrown !== null &&
    !(thrown instanceof Error) &&
    typeof (thrown as PlainError).code === "string"
  );
}

/**
 * Anything else is a defect. The call was aborted, so the memory of the instance may be in any state: a fresh instance
 * replaces it, and the next call works.
 */
function recover(cause: unknown): CtxweaveError {
  let after = "the module was restarted";
  try {
    replace();
  } catch {
    lose();
    after = "the module could not be restarted, call `init` again";
  }
  return new CtxweaveError(
    "internal_error",
    `internal error: ${reasonOf(cause)}; ${after}; please report it with the input that caused it`,
    {},
    { cause },
  );
}
