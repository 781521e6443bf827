/** Deno KV. A value there has at most 64 KiB, so blobs are stored in pieces. */

import type { DeletingStore } from "../types/stores.js";
import { page } from "./memory.js";

/** The used part of `Deno.Kv`. */
export interface DenoKvLike {
  get(key: readonly (string | number)[]): Promise<{ value: unknown; versionstamp: string | null }>;
  set(key: readonly (string | number)[], value: unknown): Promise<unknown>;
  delete(key: readonly (string | number)[]): Promise<void>;
  getMany(keys: readonly (readonly (string | number)[])[]): Promise<{ value: unknown; versionstamp: string | null }[]>;
  list(
    selector: { start: readonly (string | number)[]; end: readonly (string | number)[] },
    options?: { limit?: number },
  ): AsyncIterable<{ key: readonly unknown[] }>;
  atomic(): DenoAtomicLike;
}

/** The used part of `Deno.AtomicOperation`. */
export interface DenoAtomicLike {
  check(entry: { key: readonly (string | number)[]; versionstamp: string | null }): DenoAtomicLike;
  set(key: readonly (string | number)[], value: unknown): DenoAtomicLike;
  commit(): Promise<{ ok: boolean }>;
}

/** Bytes of a piece, and number of pieces per request. */
const PIECE = 60_000;
const AT_A_TIME = 10;

const encoder = new TextEncoder();

/**
 * A store in Deno KV, as opened by `await Deno.openKv()`, under `prefix` (default `["ctxweave"]`). Records have to fit
 * into 64 KiB, which only very long summaries exceed; blobs may have any size.
 */
export function denoKvStore(kv: DenoKvLike, prefix: readonly string[] = ["ctxweave"]): DeletingStore {
  const place = (key: string): string[] => [...prefix, "keys", key];
  const piece = (key: string, at: number): (string | number)[] => [...prefix, "pieces", key, at];
  const pieces = async (key: string, length: number): Promise<Uint8Array | undefined> => {
    const bytes = new Uint8Array(length);
    const count = Math.ceil(length / PIECE);
    for (let from = 0; from < count; from += AT_A_TIME) {
      const wanted = Array.from({ length: Math.min(AT_A_TIME, count - from) }, (_, at) => piece(key, from + at));
      for (const [at, { value }] of (await kv.getMany(wanted)).entries()) {
        // A blob with a missing piece is missing.
        if (!(value instanceof Uint8Array)) return undefined;
        bytes.set(value.subarray(0, length - (from + at) * PIECE), (from + at) * PIECE);
      }
    }
    return bytes;
  };
  return {
    async get(key) {
      const { value } = await kv.get(place(key));
      if (typeof value === "string") return encoder.encode(value);
      return typeof value === "number" ? pieces(key, value) : undefined;
    },
    async put(key, bytes) {
      for (let at = 0; at * PIECE < bytes.length; at += 1) {
        await kv.set(piece(key, at), bytes.slice(at * PIECE, (at + 1) * PIECE));
      }
      // The pieces are valid once their length is stored.
      await kv.set(place(key), bytes.length);
    },
    async compareAndSet(key, expected, next) {
      const { value, versionstamp } = await kv.get(place(key));
      if ((value ?? undefined) !== expected) return false;
      const { ok } = await kv
        .atomic()
        .check({ key: place(key), versionstamp })
        .set(place(key), next)
        .commit();
      return ok;
    },
    async list(prefix, cursor, limit = 500) {
      const selector = { start: place(cursor === undefined ? prefix : `${cursor}\0`), end: place(`${prefix}\u007f`) };
      const keys: string[] = [];
      for await (const { key } of kv.list(selector, { limit })) keys.push(key.at(-1) as string);
      return page(keys, limit);
    },
    async delete(key) {
      const { value } = await kv.get(place(key));
      await kv.delete(place(key));
      if (typeof value !== "number") return;
      for (let at = 0; at * PIECE < value; at += 1) await kv.delete(piece(key, at));
    },
  };
}
