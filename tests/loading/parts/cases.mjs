/** What most cases have in common. */

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
 * A page that a tool builds into `out`, with the least that one imports, which is measured, and with every entry point and
 * vocabulary. `build` makes it.
 */
export function builtPage({ tool, what, quick, script, attributes, inWorker = false, build, out = "out", line }) {
  return {
    tool,
    what,
    quick,
    line,
    async run(workspace) {
      let result;
      for (const [size, of] of Object.entries({ all, first })) {
        const dir = workspace.dir(`${tool} ${what} ${size}`, pageFiles(of, { inWorker }));
        await build({ workspace, dir });
        // Where the tool makes no page, one that runs its script.
        if (script) writeFileSync(join(dir, out, "index.html"), page(script, attributes));
        result = await workspace.without(() => serving(join(dir, out), judged));
      }
      return result;
    },
  };
}

/** A program that a tool builds into `out`, which is run somewhere else, without the packages. */
export function builtCommand({ tool, what, quick, cjs = false, build, out = "out", start, line }) {
  return {
    tool,
    what,
    quick,
    line,
    async run(workspace) {
      const dir = workspace.dir(`${tool} ${what}`, commandFiles(all, { cjs }));
      await build({ workspace, dir });
      const elsewhere = mkdtempSync(join(tmpdir(), "ctxweave-loading-"));
      try {
        cpSync(join(dir, out), elsewhere, { recursive: true });
        // What a bundler wrote is CommonJS or not by its name and by what stands in it, never by a package.json above it.
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
  if (!/^OK$/m.test(printed)) throw new Error(`the program says: ${printed.slice(0, 2000)}`);
}

/** That something fails, with words that tell why. */
export async function expectFailure(action, pattern) {
  const error = await action().then(
    () => undefined,
    (error) => error,
  );
  if (!error) throw new Error("it works, though the table says that it does not");
  if (!pattern.test(error.message)) throw new Error(`it fails in another way: ${error.message}`);
}
