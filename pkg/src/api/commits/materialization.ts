/** One materialization: requests to the wasm, and the result assembled from the blobs. */

import { readResponse } from "../../call.js";
import type * as glue from "../../glue.js";
import { writeRequest } from "../../request.js";
import { call, instance, type Resident } from "../../runtime.js";
import { guarded } from "../../source.js";
import type { MaterializationPlan, MaterializationRequest, Materialized } from "../../types/commits.js";
import { invalid } from "../checked.js";
import type { Handle, Handles } from "../handles.js";
import { customFormats } from "./formats.js";
import { Verification } from "./verification.js";

/** The request and the cache key of a plan: its steps do not have to cross again. */
function planRequest(plan: MaterializationRequest | MaterializationPlan): Uint8Array {
  if (typeof plan !== "object" || plan === null) throw invalid("plan", "a plan or a request");
  const given = guarded("plan", () => ({ ...plan }));
  return writeRequest({ ...customFormats(), ...given, refs: undefined, steps: undefined, diagnostics: undefined }).json;
}

/**
 * A materialization that has begun. The caller's code runs between its calls and may call `reset`: then every call
 * throws `handle_lost`.
 */
export class ActiveMaterialization {
  readonly #raw: glue.Materialization;
  readonly #resident: Resident;

  constructor(raw: glue.Materialization, resident: Resident) {
    this.#raw = raw;
    this.#resident = resident;
  }

  /** The refs of the blobs, in the order in which they are needed. */
  order(): string[] {
    return this.call((raw) => raw.order() as string[]);
  }

  /** Throws the error for a missing next blob. */
  missing(): never {
    return this.call((raw) => {
      throw raw.missing();
    });
  }

  call<T>(run: (raw: glue.Materialization) => T): T {
    return call(() => run(this.#raw), this.#resident);
  }

  /** Frees the memory, unless it is gone with its instance. */
  free(): void {
    if (this.#resident.instance === instance()) this.#raw.free();
  }
}

/** The records that a materialization can begin from. */
type Plannable = Pick<Handles<Handle & { raw: glue.CommitGraph | glue.ChainWalk }>, "use">;

/** Begins the materialization of a plan, or of the plan of a request. */
export function beginMaterialization(
  handles: Plannable,
  owner: object,
  plan: MaterializationRequest | MaterializationPlan,
): ActiveMaterialization {
  const json = planRequest(plan);
  return handles.use(
    owner,
    (handle) =>
      new ActiveMaterialization(
        call(() => handle.raw.begin(json), handle),
        handle,
      ),
  );
}

/**
 * Validates a blob and appends it, if the result contains it unchanged. Returns false, and does nothing, if the host has
 * to verify it first.
 */
export function appendBlob(
  work: ActiveMaterialization,
  blob: Uint8Array,
  append: (bytes: Uint8Array) => unknown,
  verification: Verification = Verification.Unavailable,
): boolean {
  const action = work.call((raw) => raw.push(blob, verification));
  if (action === VERIFY) return false;
  if (action === AFTER_NEWLINE) append(NEWLINE);
  if (action !== CONSUMED) append(blob);
  return true;
}

/**
 * Results of `push`: the blob was consumed, or it must be appended after a newline; otherwise it must be appended
 * directly.
 */
const CONSUMED = 2;
const VERIFY = 3;
const AFTER_NEWLINE = 1;
const NEWLINE = Uint8Array.of(10);

/** The result, from the pieces if its bytes are not in it already. */
export function finished(work: ActiveMaterialization, pieces: readonly Uint8Array[]): Materialized {
  const { bytes, ...rest } = readResponse(work.call((raw) => raw.finish())) as Omit<Materialized, "bytes"> &
    Partial<Materialized>;
  return { bytes: bytes ?? joined(pieces), ...rest };
}

function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** A growable list of bytes, in blocks that are never copied. */
export class Blocks {
  private readonly full: Uint8Array[] = [];
  private last = new Uint8Array(0);
  private length = 0;

  append(bytes: Uint8Array): void {
    const fits = bytes.subarray(0, this.last.length - this.length);
    this.last.set(fits, this.length);
    this.length += fits.length;
    const rest = bytes.subarray(fits.length);
    if (rest.length === 0) return;
    this.full.push(this.last);
    this.last = new Uint8Array(Math.max(rest.length, 1 << 20));
    this.last.set(rest);
    this.length = rest.length;
  }

  blocks(): Uint8Array[] {
    return [...this.full, this.last.subarray(0, this.length)];
  }
}
