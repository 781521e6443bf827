/** The service on Cloudflare: blobs and trees in R2, records and heads in D1. */

import { cloudflareStore, CommitStore, init } from "ctxweave/stores";
import { isLocal } from "./access.mjs";
import { answer } from "./routes.mjs";

function storeOf({ BLOBS, COMMITS }) {
  const store = cloudflareStore(BLOBS, COMMITS);
  return { store, commits: new CommitStore(store) };
}

/** The tokens of agents are in D1; Cloudflare limits the requests of each, if the binding is set. */
function accessOf(request, { TOKEN, COMMITS, LIMITER }) {
  return {
    token: TOKEN,
    isLocal: isLocal(request, request.headers.get("cf-connecting-ip") ?? undefined),
    async find(hash) {
      const row = await COMMITS.prepare("SELECT principal, heads FROM tokens WHERE hash = ?").bind(hash).first();
      return row && { principal: row.principal, heads: JSON.parse(row.heads) };
    },
    limit: LIMITER && (async (key) => (await LIMITER.limit({ key })).success),
  };
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
    return answer(request, { commits, blobs, access: accessOf(request, env) });
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
