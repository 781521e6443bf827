/// <reference lib="esnext.disposable" preserve="true" />
/** Checkpoints as an agent works. */

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
import { type Handle as AnyHandle, Handles } from "../handles.js";
import type { ReadonlyData } from "../../types/common.js";

const checkpointers = new Handles<AnyHandle & { raw: glue.Checkpointer }>("checkpointer", "head");

/**
 * Turns the messages of a session into commits. What it offers is the host's to store, and counts once `stored` says so:
 * until then nothing has changed, and the next offer holds the same messages again.
 */
export class Checkpointer {
  constructor(options: CheckpointerOptions) {
    const { json } = writeRequest(options);
    checkpointers.set(this, { raw: call((wasm) => new wasm.Checkpointer(json)) });
  }

  /** The last stored commit. */
  get head(): string | undefined {
    return checkpointers.use(this, ({ raw }) => call(() => raw.head));
  }

  /** Messages that went in so far: what a compaction that begins now covers. */
  get position(): number {
    return checkpointers.use(this, ({ raw }) => call(() => raw.position));
  }

  /** Messages that no stored commit holds. */
  get pending(): number {
    return checkpointers.use(this, ({ raw }) => call(() => raw.pending));
  }

  /**
   * Takes a message: for the formats that have lines one line of JSON, as text or as the object itself; for
   * `bureau-agent-v1` an item in CBOR, or an array of them.
   */
  push(message: string | object | Bytes): void {
    const bytes = messageBytes(message, "message");
    checkpointers.use(this, ({ raw }) => call(() => raw.push(bytes)));
  }

  /** Says that something happened, and gives the commit that is due because of it, if one is. */
  checkpoint(trigger: CheckpointTrigger, fields: ReadonlyData<CheckpointFields>): OfferedCommit[] {
    return callMethod(this, "checkpoint", { trigger, fields }) as OfferedCommit[];
  }

  /**
   * Compacts: first the commit with what came before, if there is anything new, then the one with the summary.
   *
   * @throws {CtxweaveError} `compaction_stale` when messages that the summary does not cover are stored already
   */
  compact(summary: string | object | Bytes, fields: ReadonlyData<CompactionFields>): OfferedCommit[] {
    return callMethod(this, "compact", {
      summary: messageBytes(summary, "summary"),
      fields,
    }) as OfferedCommit[];
  }

  /**
   * Says that the host has stored a commit that it was given, and those that lead to it. The head goes there, unless it is
   * further on already: stores may end in any order. `storedAs` is the id under which it was stored, where it had to be given
   * another parent.
   *
   * @throws {CtxweaveError} `commit_not_found` for one that was not given
   */
  stored(id: string, storedAs?: string): void {
    callMethod(this, "stored", { id, storedAs });
  }

  /** Gives the memory back; nothing can be asked any more. */
  free(): void {
    checkpointers.free(this);
  }

  /** The same, at the end of a `using` block. */
  [Symbol.dispose](): void {
    checkpointers.free(this);
  }
}

function callMethod(owner: Checkpointer, name: string, args?: unknown): unknown {
  return checkpointers.use(owner, ({ raw }) => callJson(name, args, { handle: raw }));
}
