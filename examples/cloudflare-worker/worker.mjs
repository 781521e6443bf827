/** The service on Cloudflare: blobs and trees in R2, records and heads in D1. */

import { cloudflareStore, CommitStore, init } from "ctxweave/stores";
import { answer } from "./routes.mjs";

function storeOf({ BLOBS, COMMITS }) {
  const store = cloudflareStore(BLOBS, COMMITS);
  return { store, commits: new CommitStore(store) };
}

export default {
  fetch(request, env) {
    const { commits } = storeOf(env);
    const blobs = {
      put: (key, bytes) => env.BLOBS.put(key, bytes),
      async get(key) {
        const object = await env.BLOBS.get(key);
        return object && new Uint8Array(await object.arrayBuffer());
      },
    };
    return answer(request, { commits, blobs, token: env.TOKEN });
  },

  /** Every night: deletes what no head leads to. */
  async scheduled(_, env) {
    await init();
    const { store, commits } = storeOf(env);
    for await (const keys of commits.garbage()) {
      for (let at = 0; at < keys.length; at += 20)
        await Promise.all(keys.slice(at, at + 20).map((key) => store.delete(key)));
    }
  },
};
