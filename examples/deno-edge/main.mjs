/** The service of ../cloudflare-worker on Deno: everything in Deno KV. `PORT`, `KV` and `TOKEN` say where, in which file, and for whom. */

import { CommitStore, denoKvStore } from "ctxweave/stores";
import { answer } from "../cloudflare-worker/routes.mjs";

const kv = await Deno.openKv(Deno.env.get("KV"));
const store = denoKvStore(kv);
const commits = new CommitStore(store);

Deno.serve({ hostname: "127.0.0.1", port: Number(Deno.env.get("PORT") ?? 8788) }, (request) =>
  answer(request, { commits, blobs: store, token: Deno.env.get("TOKEN") }),
);

// Once a night what no head leads to goes. Where several instances run, one of them collects, and the others are told so.
Deno.cron?.("garbage", "17 3 * * *", async () => {
  for await (const keys of commits.garbage()) for (const key of keys) await store.delete(key);
});
