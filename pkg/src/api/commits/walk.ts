/// <reference lib="esnext.disposable" preserve="true" />
/** A walk along a chain whose records the host brings. */

import type * as glue from "../../glue.js";
import { call } from "../../runtime.js";
import type {
  Bytes,
  ChainWalkOptions,
  CommitRecord,
  MaterializationPlan,
  MaterializationRequest,
} from "../../types/commits.js";
import { toRequest } from "../../json.js";
import { textBytes } from "./bytes.js";
import { Handles } from "./handles.js";

export const walks = new Handles<glue.ChainWalk>();

/**
 * A walk from a commit towards its root, over records that are elsewhere: it says which one it needs next, and takes that and as
 * many of its ancestors as come along. It can be planned and materialised as a graph can, and holds no records but those of
 * its chain.
 */
export class ChainWalk {
  constructor(options: ChainWalkOptions) {
    walks.hold(
      this,
      call((raw) => new raw.ChainWalk(toRequest(options).json)),
    );
  }

  /** The id of the record that is needed next; undefined where the walk is over. */
  get wanted(): string | undefined {
    return walks.ask(this, (walk) => walk.wanted);
  }

  /**
   * Takes a page, a record on each line: the one that is wanted and those that are wanted after it. Gives these, newest first;
   * other records are left out.
   *
   * @throws {CtxweaveError} `commit_not_found` for a page without the record, `record_mismatch` for one that has something else
   * in its place, `chain_cycle`, `stop_not_in_chain`; the walk is then where it was
   */
  push(records: string | Bytes): CommitRecord[] {
    return walks.call(this, "push", { records: textBytes(records, "records") }) as CommitRecord[];
  }

  /**
   * Plans a materialisation of the chain, when no record is wanted any more.
   *
   * @throws {CtxweaveError} `invalid_input` before that, or for another `commit` or `stop` than those of the walk
   */
  planMaterialization(request: MaterializationRequest): MaterializationPlan {
    return walks.call(this, "planMaterialization", request) as MaterializationPlan;
  }

  /** Gives the memory back; nothing can be asked any more. */
  free(): void {
    walks.release(this);
  }

  /** The same, at the end of a `using` block. */
  [Symbol.dispose](): void {
    walks.release(this);
  }
}
