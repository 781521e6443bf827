/** Common parts of the cases. */

import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { judged, serving } from "./browser.mjs";
import { run } from "./process.mjs";
import { all, commandMain, first, page, pageMain, program, worker, workerMain } from "./program.mjs";

/** The files of a page, whose script is bundled. */
export function pageFiles(of, { script = "./main.mjs", inWorker = false } = {}) {
  return {
    "program.mjs": program(of),
    "main.mjs": inWorker ? workerMain() : pageMain,
    ...(inWorker && { "worker.mjs": worker }),
    "index.html": page(script),
  };
}

/** The files of a program for the command line. */
export function commandFiles(of, { cjs = false } = {}) {
  return cjs
    ? { "program.cjs": program(of, { cjs }), "main.cjs": commandMain(true) }
    : { "program.mjs": program(of), "main.mjs": commandMain() };
}

/**
 * A page that a tool builds into `out`: with a minimal import, which is measured, and with every entry point and
 * vocabulary. `build` builds it; `files` are other sources than those of a plain page, `how` the source of the bytes if
 * it cannot be seen from the page.
 */
export function builtPage({ script, attributes, files, inWorker = false, build, out = "out", how, ...one }) {
  const { tool, what } = one;
  return {
    ...one,
    async run(workspace) {
      let result;
      for (const [size, of] of Object.entries({ all, first })) {
        const dir = workspace.dir(`${tool} ${what} ${size}`, files ? files(of) : pageFiles(of, { inWorker }));
        await build({ workspace, dir });
        // If the tool builds no page, one that runs its script.
        if (script) writeFileSync(join(dir, out, "index.html"), page(script, attributes));
        result = await workspace.without(() => serving(join(dir, out), judged));
      }
      return how ? { how } : result;
    },
  };
}

/** A program that a tool builds into `out`, run elsewhere without the packages. */
export function builtCommand({ cjs = false, files, build, out = "out", start, ...one }) {
  const { tool, what } = one;
  return {
    ...one,
    async run(workspace) {
      const dir = workspace.dir(`${tool} ${what}`, files ?? commandFiles(all, { cjs }));
      await build({ workspace, dir });
      const elsewhere = mkdtempSync(join(tmpdir(), "ctxweave-loading-"));
      try {
        cpSync(join(dir, out), elsewhere, { recursive: true });
        // Whether bundled code is CommonJS depends on its name and content, never on a package.json above it.
        const [program, args] = start({ workspace, files: readdirSync(elsewhere), dir: elsewhere });
        const printed = await workspace.without(() => run(program, args, { cwd: elsewhere }));
        expectOk(printed);
        return { how: "packed" };
      } finally {
        rmSync(elsewhere, { recursive: true });
      }
    },
  };
}

export function expectOk(printed) {
  if (!/^OK$/m.test(printed)) throw new Error(`the program printed: ${printed.slice(0, 2000)}`);
}

/** Requests each place of a server, `[what, path]`, and opens its page in the browser, if it has one. */
export const asking = (places, client) => async (address) => {
  for (const [what, path] of places) {
    const response = await fetch(address + path);
    const text = await response.text();
    if (!/(^|<pre[^>]*>)OK($|<\/pre>)/.test(text)) {
      throw new Error(`${what}: ${/<pre[^>]*>(.*?)<\/pre>/s.exec(text)?.[1] ?? text.slice(0, 1000)}`);
    }
  }
  return client === undefined ? undefined : judged(address + client);
};

/** Asserts that something fails, with a message that matches. */
export async function expectFailure(action, pattern) {
  const error = await action().then(
    () => undefined,
    (error) => error,
  );
  if (!error) throw new Error("it works, but the table lists it as failing");
  if (!pattern.test(error.message)) throw new Error(`unexpected failure: ${error.message}`);
}
