/// <reference lib="esnext.disposable" preserve="true" />
/** Checkpoints as an agent works. */

import type * as glue from "../../glue.js";
import { call } from "../../runtime.js";
import type {
  Bytes,
  CheckpointerOptions,
  CheckpointFields,
  CheckpointTrigger,
  CompactionFields,
  OfferedCommit,
} from "../../types/commits.js";
import { toRequest } from "../../json.js";
import { messageBytes } from "./bytes.js";
import { Handles } from "./handles.js";
import type { ReadonlyData } from "../../types/common.js";

const checkpointers = new Handles<glue.Checkpointer>();

/**
 * Turns the messages of a session into commits. What it offers is the host's to store, and counts once `stored` says so:
 * until then nothing has changed, and the next offer holds the same messages again.
 */
export class Checkpointer {
  constructor(options: CheckpointerOptions) {
    checkpointers.hold(
      this,
      call((raw) => new raw.Checkpointer(toRequest(options).json)),
    );
  }

  /** The last stored commit. */
  get head(): string | undefined {
    return checkpointers.ask(this, (checkpointer) => checkpointer.head);
  }

  /** Messages that went in so far: what a compaction that begins now covers. */
  get position(): number {
    return checkpointers.ask(this, (checkpointer) => checkpointer.position);
  }

  /** Messages that no stored commit holds. */
  get pending(): number {
    return checkpointers.ask(this, (checkpointer) => checkpointer.pending);
  }

  /**
   * Takes a message: for the formats that have lines one line of JSON, as text or as the object itself; for
   * `bureau-agent-v1` an item in CBOR, or an array of them.
   */
  push(message: string | object | Bytes): void {
    const bytes = messageBytes(message, "message");
    checkpointers.ask(this, (checkpointer) => checkpointer.push(bytes));
  }

  /** Says that something happened, and gives the commit that is due because of it, if one is. */
  checkpoint(trigger: CheckpointTrigger, fields: ReadonlyData<CheckpointFields>): OfferedCommit[] {
    return checkpointers.call(this, "checkpoint", { trigger, fields }) as OfferedCommit[];
  }

  /**
   * Compacts: first the commit with what came before, if there is anything new, then the one with the summary.
   *
   * @throws {CtxweaveError} `compaction_stale` when messages that the summary does not cover are stored already
   */
  compact(summary: string | object | Bytes, fields: ReadonlyData<CompactionFields>): OfferedCommit[] {
    return checkpointers.call(this, "compact", {
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
    checkpointers.call(this, "stored", { id, storedAs });
  }

  /** Gives the memory back; nothing can be asked any more. */
  free(): void {
    checkpointers.release(this);
  }

  /** The same, at the end of a `using` block. */
  [Symbol.dispose](): void {
    checkpointers.release(this);
  }
}
