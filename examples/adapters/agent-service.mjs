/**
 * The context operations of an agent service, after `init()` of the same entry point, over any store of `ctxweave/stores`: `checkpoint`, `materialize`,
 * `resolve`, `show`, `history` and `updateMetadata`, with the requests and responses of its design document.
 */

import { CommitStore } from "ctxweave/stores";

/** A service over a store. `now` is the clock for commits without a time. */
export class ContextService {
  #commits;
  #now;
  /** Materializations are a function of the chain: one per commit, format and stop. */
  #cache = new Map();

  constructor(store, { now = () => new Date() } = {}) {
    this.#commits = new CommitStore(store);
    this.#now = now;
  }

  /** Stores the delta and its commit; returns the `ctx-*` id. The name of the head is that of the principal. */
  async checkpoint({ head, delta, ...fields }) {
    const name = head ?? fields.principal;
    const { id } = await this.#commits.checkpoint(name, { created_at: this.#now(), ...fields }, delta);
    return { id };
  }

  /** Starts a branch at a commit: the same for a resumed agent and for a discussion of an old commit. */
  fork(id, head) {
    return this.#commits.fork(id, head);
  }

  /** The conversation at a commit; without a commit it is empty, so that a fresh start takes the same path. */
  async materialize({ commit, format, stop = "compaction" }) {
    const key = JSON.stringify([commit, format, stop]);
    if (!this.#cache.has(key)) {
      const request = { stop, ...(commit && { commit }), ...(format && { format }) };
      const { bytes, artifactRef, messageCount, tokenCount, tier } = await this.#commits.materialize(request);
      const counts = { message_count: messageCount, token_count: tokenCount };
      this.#cache.set(key, { artifact_ref: artifactRef, content: bytes, tier, ...counts });
    }
    return this.#cache.get(key);
  }

  /** The latest commit of a principal at or before a time. */
  async resolve({ principal, timestamp }) {
    const found = await this.#commits.resolve(principal, timestamp);
    return { id: found?.id ?? null };
  }

  show({ id }) {
    return this.#commits.show(id);
  }

  async history({ id, depth }) {
    const records = [];
    for await (const record of this.#commits.history(id, depth === undefined ? {} : { depth })) records.push(record);
    return records;
  }

  /** Changes the summary or tags. The artifact is immutable, so no cached materialization becomes stale. */
  async updateMetadata({ id, summary, tags }) {
    const fields = Object.entries({ summary, tags }).filter(([, value]) => value !== undefined);
    await this.#commits.updateMetadata(id, Object.fromEntries(fields));
  }
}
