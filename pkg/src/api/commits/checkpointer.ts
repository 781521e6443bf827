/// <reference lib="esnext.disposable" preserve="true" />
/** Checkpoints of a running session. */

import { callJson } from "../../call.js";
import type * as glue from "../../glue.js";
import { writeRequest } from "../../request.js";
import { call } from "../../runtime.js";
import type {
  Bytes,
  CheckpointerOptions,
  CheckpointFields,
  CheckpointTrigger,
  CompactionFields,
  OfferedCommit,
} from "../../types/commits.js";
import { messageBytes } from "./bytes.js";
import { withFormats } from "./formats.js";
import { type Handle as AnyHandle, Handles } from "../handles.js";
import type { ReadonlyData } from "../../types/common.js";

const checkpointers = new Handles<AnyHandle & { raw: glue.Checkpointer }>("checkpointer", "head");

/**
 * Turns the messages of a session into commits. The host stores each offered commit and confirms it with `stored`.
 * Until then nothing changes, and the next offer contains the same messages. See docs/commits.md.
 */
export class Checkpointer {
  constructor(options: CheckpointerOptions) {
    const { json } = writeRequest(withFormats(options, "options"));
    checkpointers.set(this, { raw: call((wasm) => new wasm.Checkpointer(json)) });
  }

  /** The last stored commit. */
  get head(): string | undefined {
    return checkpointers.use(this, ({ raw }) => call(() => raw.head));
  }

  /** Number of messages so far: those that a compaction beginning now covers. */
  get position(): number {
    return checkpointers.use(this, ({ raw }) => call(() => raw.position));
  }

  /** Number of messages that are in no stored commit. */
  get pending(): number {
    return checkpointers.use(this, ({ raw }) => call(() => raw.pending));
  }

  /**
   * Adds a message. Formats with lines take one line of JSON, as text or as the object; `bureau-agent-v1` takes an item
   * in CBOR, an array of items, or a `{ role, content }` as in `generic-v1`.
   */
  push(message: string | object | Bytes): void {
    const bytes = messageBytes(message, "message");
    checkpointers.use(this, ({ raw }) => call(() => raw.push(bytes)));
  }

  /** Records an event; returns the commits that are due because of it. */
  checkpoint(trigger: CheckpointTrigger, fields: ReadonlyData<CheckpointFields>): OfferedCommit[] {
    return callMethod(this, "checkpoint", { trigger, fields }) as OfferedCommit[];
  }

  /**
   * Compacts: returns a commit with earlier messages, if any are pending, and one with the summary.
   *
   * @throws {CtxweaveError} `compaction_stale` if messages that the summary does not cover are already stored
   */
  compact(summary: string | object | Bytes, fields: ReadonlyData<CompactionFields>): OfferedCommit[] {
    return callMethod(this, "compact", {
      summary: messageBytes(summary, "summary"),
      fields,
    }) as OfferedCommit[];
  }

  /**
   * Confirms that the host has stored an offered commit and its ancestors. Moves the head there, unless it is already
   * past it: stores may finish in any order. `storedAs` is its stored id, if it was given another parent.
   *
   * @throws {CtxweaveError} `commit_not_found` for a commit that was not offered
   */
  stored(id: string, storedAs?: string): void {
    callMethod(this, "stored", { id, storedAs });
  }

  /** Frees the memory; no method can be called afterwards. */
  free(): void {
    checkpointers.free(this);
  }

  /** Frees the memory at the end of a `using` block. */
  [Symbol.dispose](): void {
    checkpointers.free(this);
  }
}

function callMethod(owner: Checkpointer, name: string, args?: unknown): unknown {
  return checkpointers.use(owner, (handle) => callJson(name, args, { handle }));
}
