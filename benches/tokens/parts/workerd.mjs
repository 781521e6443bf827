// In workerd: a process for each measurement. Its clock stops while a Worker computes, so time is measured outside: the
// round trip of a request, minus that of an empty request. The module is compiled when the Worker is uploaded, which is
// not counted.

import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { counters } from "./counters.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const folder = join(here, "../../../target/bench-workerd");

const worker = `
  import { megabytes } from "./measure.mjs";
  import { ready } from "counter";
  let count, text;
  const steps = {
    "/nothing": () => 0,
    "/text": async (request) => (text = await request.text()).length,
    "/ready": async () => (count = await ready())("a"),
    "/memory": () => megabytes(),
    "/count": (request, passes) => {
      let tokens;
      for (let pass = 0; pass < passes; pass += 1) tokens = count(text);
      return tokens;
    },
  };
  export default {
    async fetch(request) {
      try {
        const { pathname, search } = new URL(request.url);
        return Response.json(await steps[pathname](request, Number(search.slice(1))));
      } catch (error) {
        return new Response(error.stack, { status: 500 });
      }
    },
  };`;

export async function start() {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const bundled = new Set();
  return {
    name: "workerd",
    async measure({ counter, encoding, path, again }) {
      const out = join(folder, `${counter.replace("/", "-")}-${encoding}`);
      if (!bundled.has(out)) await bundle(out, counter, encoding);
      bundled.add(out);
      const miniflare = new Miniflare({
        modules: true,
        modulesRules: [
          { type: "CompiledWasm", include: ["**/*.wasm"] },
          { type: "Data", include: ["**/*.bin"] },
        ],
        scriptPath: join(out, "worker.js"),
        modulesRoot: out,
        compatibilityDate: "2026-01-01",
        host: "127.0.0.1",
        cf: false,
        handleRuntimeStdio: () => {},
      });
      try {
        const ask = async (step, body) => {
          const begin = performance.now();
          const response = await miniflare.dispatchFetch(`http://127.0.0.1/${step}`, { method: "POST", body });
          const answer = await response.text();
          if (!response.ok) throw new Error(answer);
          return [JSON.parse(answer), performance.now() - begin];
        };
        const nothing = [];
        for (let i = 0; i < 20; i += 1) nothing.push((await ask("nothing"))[1]);
        const trip = nothing.toSorted((a, b) => a - b)[10];
        const timed = async (step) => {
          const [answer, time] = await ask(step);
          return [answer, Math.max(time - trip, 0.001)];
        };
        const [, first] = await timed("ready");
        const [memory] = await ask("memory");
        await ask("text", readFileSync(path, "utf8"));
        const [tokens, cold] = await timed("count?1");
        let warm = cold;
        if (again > 0) {
          // Many passes per request, because round trips vary by a millisecond or two; the first request is a warm-up.
          const passes = Math.min(Math.ceil(again / cold), 50);
          await timed(`count?${passes}`);
          warm = (await timed(`count?${passes}`))[1] / passes;
        }
        return { first, memory, cold, warm, tokens };
      } finally {
        await miniflare.dispose();
      }
    },
    stop: async () => {},
  };

  async function bundle(out, counter, encoding) {
    const contents = counters[counter](encoding, "workerd");
    const asCounter = {
      name: "counter",
      setup(build) {
        build.onResolve({ filter: /^counter$/ }, () => ({ path: "counter", namespace: "counter" }));
        build.onLoad({ filter: /.*/, namespace: "counter" }, () => ({ contents, resolveDir: here }));
      },
    };
    await build({
      stdin: { contents: worker, resolveDir: here, sourcefile: "worker.mjs" },
      outfile: join(out, "worker.js"),
      bundle: true,
      format: "esm",
      conditions: ["workerd", "worker", "browser"],
      loader: { ".wasm": "copy", ".bin": "copy" },
      assetNames: "[name]",
      plugins: [asCounter],
      logLevel: "warning",
    });
  }
}
