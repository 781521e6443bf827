/**
 * The service of ../cloudflare-worker on Deno: everything in Deno KV. `PORT`, `KV` and `TOKEN` set the port, the
 * database file and the operator's token. The tokens of agents are under the keys `["tokens", hash]`.
 */

import { CommitStore, denoKvStore } from "ctxweave/stores";
import { isLocal } from "../cloudflare-worker/access.mjs";
import { answer } from "../cloudflare-worker/routes.mjs";

const kv = await Deno.openKv(Deno.env.get("KV"));
const store = denoKvStore(kv);
const commits = new CommitStore(store);

const access = {
  token: Deno.env.get("TOKEN"),
  find: async (hash) => (await kv.get(["tokens", hash])).value,
};

Deno.serve({ hostname: "127.0.0.1", port: Number(Deno.env.get("PORT") ?? 8788) }, (request, { remoteAddr }) =>
  answer(request, {
    commits,
    blobs: store,
    access: { ...access, isLocal: isLocal(request, remoteAddr.hostname) },
  }),
);

// Every night deletes what no head leads to. Of several instances one collects, and the others throw `store_busy`.
Deno.cron?.("garbage", "17 3 * * *", async () => {
  for await (const keys of commits.garbage()) for (const key of keys) await store.delete(key);
});
