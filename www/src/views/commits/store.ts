/** Where blobs, records and what is said of them live: this browser's database. */

import type { Diagnostic } from "ctxweave/commits";
import { read, write } from "../../ui/database.js";

/** A session as it is kept: its records as JSONL, the branch that was chosen, and what was said of its import. */
export interface KeptSession {
  name: string;
  records: Uint8Array;
  chosen?: string;
  /** Whether it is the sample, with nothing of one's own. */
  sample: boolean;
  diagnostics: readonly Diagnostic[];
}

/** Keeps blobs by their refs. */
export function keepBlobs(blobs: Iterable<readonly [string, Uint8Array]>): Promise<void> {
  return write(["blobs"], (store) => {
    for (const [ref, bytes] of blobs) store.put(bytes, ref);
  });
}

/** Brings a blob. */
export async function blobOf(ref: string): Promise<Uint8Array> {
  const blob: unknown = await read("blobs", (store) => store.get(ref));
  if (!(blob instanceof Uint8Array)) throw new Error(`this browser does not have the blob ${ref}`);
  return blob;
}

/** Keeps the session that is open, in place of the one before. */
export function keepSession(session: KeptSession): Promise<void> {
  return write(["records"], (store) => {
    store.clear();
    store.put(session, "session");
  });
}

/** The session that was open last, if there was one. */
export async function lastSession(): Promise<KeptSession | undefined> {
  return (await read("records", (store) => store.get("session"))) as KeptSession | undefined;
}

/** Forgets everything. */
export function forget(): Promise<void> {
  return write(["records", "blobs"], (store) => store.clear());
}
