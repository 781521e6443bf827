/// <reference lib="esnext.disposable" preserve="true" />
/** A walk along a chain whose records the host supplies. */

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
import { withFormats } from "./formats.js";

export const walks = new Handles<AnyHandle & { raw: glue.ChainWalk }>("walk", "commit");

/**
 * A walk from a commit towards its root, over records stored elsewhere. It requests one record at a time and also takes
 * the ancestors that come with it. Plans and materializes like a graph, but holds only the records of its chain.
 */
export class ChainWalk {
  constructor(options: ChainWalkOptions) {
    const { json } = writeRequest(options);
    walks.set(this, { raw: call((wasm) => new wasm.ChainWalk(json)) });
  }

  /** The id of the record needed next; undefined when the walk is complete. */
  get wanted(): string | undefined {
    return walks.use(this, ({ raw }) => call(() => raw.wanted));
  }

  /**
   * Takes a page with one record per line: the wanted one and those wanted after it. Returns these, newest first; other
   * records are ignored.
   *
   * @throws {CtxweaveError} `commit_not_found` for a page without the record, `record_mismatch` if it contains
   *   something else, `chain_cycle`, `stop_not_in_chain`; the walk is unchanged then
   */
  push(records: string | Bytes): CommitRecord[] {
    return callMethod(this, "push", { records: textBytes(records, "records") }) as CommitRecord[];
  }

  /**
   * Plans a materialization of the chain, once the walk is complete.
   *
   * @throws {CtxweaveError} `invalid_input` before that, or for a `commit` or `stop` other than the walk's
   */
  planMaterialization(request: MaterializationRequest): MaterializationPlan {
    return callMethod(this, "planMaterialization", withFormats(request, "request")) as MaterializationPlan;
  }

  /** Frees the memory; no method can be called afterwards. */
  free(): void {
    walks.free(this);
  }

  /** Frees the memory at the end of a `using` block. */
  [Symbol.dispose](): void {
    walks.free(this);
  }
}

function callMethod(owner: ChainWalk, name: string, args?: unknown): unknown {
  return walks.use(owner, (handle) => callJson(name, args, { handle }));
}
