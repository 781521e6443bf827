/**
 * The one loaded instance of an area. Its entry points for different runtimes share this module, and so the instance:
 * whichever of them loads it, all of them are initialised.
 */

import { area, notInitialized } from "./areas.js";
import { decoderOf } from "./coders.js";
import { CtxweaveError } from "./error.js";
import * as glue from "./glue.js";
import { reasonOf } from "./source.js";
import type { ErrorCode } from "./types/common.js";
import type { WasmModule } from "./types/platform.js";
import { version } from "./version.js";

/** The functions that the wasm exports. */
export type Raw = typeof glue;

/** This area. The build puts its name in place of `AREA`. */
export const here = area(AREA);

let ready = false;

/** Whether the module counts tokens. `import` is there to read files. */
const counts = AREA !== "import";

/** How many instances there were: what lived in one does not live in the next. */
let instances = 0;

/** The number of the instance that there is. */
export function instance(): number {
  return instances;
}

/** Whether there is an instance to call. */
export function isReady(): boolean {
  return ready;
}

/** Makes the instance at once, unless there is one already. Browsers do that on the main thread up to 8 MB only. */
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

/** Makes the instance, unless there is one already. */
export async function instantiate(module: WasmModule): Promise<void> {
  if (ready) return;
  checkVersion(module);
  try {
    glue.initSync({ module });
  } catch (cause) {
    // Browsers make an instance of more than 8 MB of module on the main thread only when they are not waited for.
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
 * The assets of the vocabularies that are loaded. They are kept for the case that the instance has to be replaced: the
 * caller may no longer have them, and what could be counted before must be counted the same after.
 */
const vocabularies = new Map<string, Uint8Array>();

/** A module that counts nothing has no such function, and nothing to load either. */
function load(raw: Raw, name: string, asset: Uint8Array): void {
  raw.loadVocabulary(name, asset);
}

/** Whether `loadVocabulary` was called with this name. */
function hasVocabulary(name: string): boolean {
  return vocabularies.has(name);
}

/** Loads a vocabulary into this instance and into each that comes after it. The asset has to stay as it is. */
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
      // It can be loaded again, and until then counting says that it has to be.
      vocabularies.delete(name);
    }
  }
}

/**
 * The build writes the version into a custom section of the module, so that a stale or foreign file is refused before
 * it is instantiated: the glue keeps the first instance it makes for ever.
 */
function checkVersion(module: WasmModule): void {
  const section = WebAssembly.Module.customSections(module, "ctxweave")[0];
  if (section === undefined) {
    throw new CtxweaveError(
      "wasm_load_failed",
      "this WebAssembly module is not the one of ctxweave; give `init` the file that the package ships as `ctxweave/ctxweave.wasm`",
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

/** Calls into the wasm; whatever is thrown comes out as a {@link CtxweaveError}. */
export function call<T>(run: (raw: Raw) => T): T {
  if (!ready) throw notInitialized();
  try {
    return run(glue);
  } catch (thrown) {
    if (thrown instanceof CtxweaveError) throw thrown;
    throw isPlainError(thrown) ? new CtxweaveError(thrown.code, thrown.message, thrown.details) : recover(thrown);
  }
}

/** What src/wasm throws. */
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
 * Anything else is a defect. The call was torn off in the middle, so the memory of the instance may be in any state: it
 * is replaced by a fresh one, and the next call works.
 */
function recover(cause: unknown): CtxweaveError {
  let after = "the module has been started anew";
  try {
    instances += 1;
    glue.__wbg_reset_state();
    restoreVocabularies();
  } catch {
    ready = false;
    delete here.instance;
    after = "the module could not be started anew: call `init` again";
  }
  return new CtxweaveError(
    "internal_error",
    `ctxweave failed in a way that it never should: ${reasonOf(cause)}; ${after}; please report it with the input that caused it`,
    {},
    { cause },
  );
}
