/// <reference lib="esnext.disposable" preserve="true" />
/** A walk along a chain whose records the host brings. */

import { callJson } from "../../call.js";
import type * as glue from "../../glue.js";
import { writeRequest } from "../../request.js";
import { call } from "../../runtime.js";
import type {
  Bytes,
  ChainWalkOptions,
  CommitRecord,
  MaterializationPlan,
  MaterializationRequest,
} from "../../types/commits.js";
import { textBytes } from "./bytes.js";
import { type Handle as AnyHandle, Handles } from "../handles.js";

export const walks = new Handles<AnyHandle & { raw: glue.ChainWalk }>("walk", "commit");

/**
 * A walk from a commit towards its root, over records that are elsewhere: it says which one it needs next, and takes that and as
 * many of its ancestors as come along. It can be planned and materialised as a graph can, and holds no records but those of
 * its chain.
 */
export class ChainWalk {
  constructor(options: ChainWalkOptions) {
    const { json } = writeRequest(options);
    walks.set(this, { raw: call((wasm) => new wasm.ChainWalk(json)) });
  }

  /** The id of the record that is needed next; undefined where the walk is over. */
  get wanted(): string | undefined {
    return walks.use(this, ({ raw }) => call(() => raw.wanted));
  }

  /**
   * Takes a page, a record on each line: the one that is wanted and those that are wanted after it. Gives these, newest first;
   * other records are left out.
   *
   * @throws {CtxweaveError} `commit_not_found` for a page without the record, `record_mismatch` for one that has something else
   * in its place, `chain_cycle`, `stop_not_in_chain`; the walk is then where it was
   */
  push(records: string | Bytes): CommitRecord[] {
    return callMethod(this, "push", { records: textBytes(records, "records") }) as CommitRecord[];
  }

  /**
   * Plans a materialisation of the chain, when no record is wanted any more.
   *
   * @throws {CtxweaveError} `invalid_input` before that, or for another `commit` or `stop` than those of the walk
   */
  planMaterialization(request: MaterializationRequest): MaterializationPlan {
    return callMethod(this, "planMaterialization", request) as MaterializationPlan;
  }

  /** Gives the memory back; nothing can be asked any more. */
  free(): void {
    walks.free(this);
  }

  /** The same, at the end of a `using` block. */
  [Symbol.dispose](): void {
    walks.free(this);
  }
}

function callMethod(owner: ChainWalk, name: string, args?: unknown): unknown {
  return walks.use(owner, ({ raw }) => callJson(name, args, { handle: raw }));
}
