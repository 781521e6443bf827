/** Blobs in R2, everything else in D1. */

import type { DeletingStore } from "../types/stores.js";
import { isLarge, recordKey } from "./keys.js";
import { page } from "./memory.js";

/** The used part of an R2 bucket. */
export interface R2BucketLike {
  get(key: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>;
  put(key: string, value: Uint8Array): Promise<unknown>;
  delete(key: string): Promise<void>;
  list(options: { prefix: string; startAfter?: string; limit?: number }): Promise<{
    objects: { key: string }[];
    truncated: boolean;
  }>;
}

/** The used part of a D1 database. */
export interface D1DatabaseLike {
  prepare(query: string): D1StatementLike;
}

/** A statement of D1. */
export interface D1StatementLike {
  bind(...values: unknown[]): D1StatementLike;
  run(): Promise<{ meta: { changes: number } }>;
  all<Row>(): Promise<{ results: Row[] }>;
}

/** The table that D1 needs; run it once, or as a migration. */
export const D1_SCHEMA =
  "CREATE TABLE IF NOT EXISTS ctxweave (key TEXT PRIMARY KEY, value TEXT NOT NULL, parent TEXT AS (CASE WHEN key >= 'records/' AND key < 'records0' THEN json_extract(value, '$.parent') END)) WITHOUT ROWID";

const encoder = new TextEncoder();

/**
 * A store on Cloudflare. R2 holds blobs, of any size. The table `ctxweave` of D1 (`D1_SCHEMA`) holds records, heads and
 * lists; D1 supports conditional updates, and returns a page of a chain in one query.
 */
export function cloudflareStore(bucket: R2BucketLike, database: D1DatabaseLike): DeletingStore {
  const changed = async (query: string, ...values: unknown[]): Promise<boolean> => {
    const { meta } = await database
      .prepare(query)
      .bind(...values)
      .run();
    return meta.changes > 0;
  };
  const rows = async <Row>(query: string, ...values: unknown[]): Promise<Row[]> => {
    const { results } = await database
      .prepare(query)
      .bind(...values)
      .all<Row>();
    return results;
  };
  return {
    async get(key) {
      if (isLarge(key)) {
        const object = await bucket.get(key);
        return object ? new Uint8Array(await object.arrayBuffer()) : undefined;
      }
      const [row] = await rows<{ value: string }>("SELECT value FROM ctxweave WHERE key = ?", key);
      return row && encoder.encode(row.value);
    },
    async put(key, bytes) {
      if (isLarge(key)) await bucket.put(key, bytes);
      else {
        const text = new TextDecoder().decode(bytes);
        await changed(
          "INSERT INTO ctxweave (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
          key,
          text,
        );
      }
    },
    async compareAndSet(key, expected, next) {
      if (expected === undefined) {
        return changed("INSERT INTO ctxweave (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING", key, next);
      }
      return changed("UPDATE ctxweave SET value = ? WHERE key = ? AND value = ?", next, key, expected);
    },
    async list(prefix, cursor, limit = 1000) {
      if (isLarge(prefix)) {
        const { objects, truncated } = await bucket.list({
          prefix,
          limit,
          ...(cursor !== undefined && { startAfter: cursor }),
        });
        const keys = objects.map(({ key }) => key);
        const last = keys.at(-1);
        return { keys, ...(truncated && last !== undefined && { cursor: last }) };
      }
      // No key has a character after `~`.
      const found = await rows<{ key: string }>(
        "SELECT key FROM ctxweave WHERE key > ? AND key < ? ORDER BY key LIMIT ?",
        cursor ?? prefix,
        `${prefix}\u007f`,
        limit,
      );
      return page(
        found.map(({ key }) => key),
        limit,
      );
    },
    async ancestors(id, limit) {
      const found = await rows<{ value: string }>(
        `WITH RECURSIVE chain (value, parent, step) AS (
           SELECT value, parent, 1 FROM ctxweave WHERE key = ?1
           UNION ALL
           SELECT next.value, next.parent, step + 1 FROM chain JOIN ctxweave AS next ON next.key = 'records/' || chain.parent
           WHERE step < ?2)
         SELECT value FROM chain ORDER BY step`,
        recordKey(id),
        limit,
      );
      return found.map(({ value }) => value).join("\n");
    },
    async delete(key) {
      if (isLarge(key)) await bucket.delete(key);
      else await changed("DELETE FROM ctxweave WHERE key = ?", key);
    },
  };
}
