/** PostgreSQL: one table. */

import type { DeletingStore } from "../types/stores.js";
import { recordKey, RECORDS } from "./keys.js";
import { page, parentOf } from "./memory.js";

/**
 * The used part of a client of PostgreSQL: a `Pool` of `pg`, a `PGlite`, or `{ query: async (text, values) => ({ rows:
 * await sql.unsafe(text, values) }) }` with postgres.js.
 */
export interface PostgresLike {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
}

/** The table that PostgreSQL needs; run it once, or as a migration. */
export const POSTGRES_SCHEMA =
  'CREATE TABLE IF NOT EXISTS ctxweave (key text COLLATE "C" PRIMARY KEY, value bytea NOT NULL, parent text COLLATE "C")';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * A store in the table `ctxweave` (`POSTGRES_SCHEMA`) of PostgreSQL, blobs included. A page of a chain is one query. Texts
 * of callers are parameters of queries, never a part of one. The client must write to and read from the primary server.
 */
export function postgresStore(client: PostgresLike): DeletingStore {
  const rows = async <Row>(text: string, ...values: unknown[]): Promise<Row[]> =>
    (await client.query(text, values)).rows as Row[];
  return {
    async get(key) {
      const [row] = await rows<{ value: Uint8Array }>("SELECT value FROM ctxweave WHERE key = $1", key);
      // A copy: a client may keep the buffer.
      return row && new Uint8Array(row.value);
    },
    async put(key, bytes) {
      await rows(
        "INSERT INTO ctxweave (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        key,
        bytes,
      );
    },
    async compareAndSet(key, expected, next) {
      const changed =
        expected === undefined
          ? await rows(
              "INSERT INTO ctxweave (key, value, parent) VALUES ($1, $2, $3) ON CONFLICT (key) DO NOTHING RETURNING key",
              key,
              encoder.encode(next),
              parentKey(key, next),
            )
          : await rows(
              "UPDATE ctxweave SET value = $2, parent = $3 WHERE key = $1 AND value = $4 RETURNING key",
              key,
              encoder.encode(next),
              parentKey(key, next),
              encoder.encode(expected),
            );
      return changed.length > 0;
    },
    async list(prefix, cursor, limit = 1000) {
      // No key has a character after `~`.
      const found = await rows<{ key: string }>(
        "SELECT key FROM ctxweave WHERE key > $1 AND key < $2 ORDER BY key LIMIT $3",
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
      const found = await rows<{ value: Uint8Array }>(
        `WITH RECURSIVE chain (value, parent, step) AS (
           SELECT value, parent, 1 FROM ctxweave WHERE key = $1
           UNION ALL
           SELECT next.value, next.parent, step + 1 FROM chain JOIN ctxweave AS next ON next.key = chain.parent
           WHERE step < $2)
         SELECT value FROM chain ORDER BY step`,
        recordKey(id),
        limit,
      );
      return found.map(({ value }) => decoder.decode(value)).join("\n");
    },
    async delete(key) {
      await rows("DELETE FROM ctxweave WHERE key = $1", key);
    },
  };
}

/** The key of the parent of a record; null for another value, and for a record without one. */
function parentKey(key: string, text: string): string | null {
  const parent = key.startsWith(RECORDS) ? parentOf(text) : undefined;
  return parent === undefined ? null : recordKey(parent);
}
