// In Node: a process for each measurement, which imports the installed packages.

import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { counters } from "./counters.mjs";
import { measure } from "./measure.mjs";

// Below node_modules, so that git ignores it and imports resolve.
const folder = join(dirname(fileURLToPath(import.meta.url)), "../node_modules/.bench");

export async function start() {
  return {
    name: `Node ${process.versions.node.split(".")[0]}`,
    async measure({ counter, encoding, path, again }) {
      mkdirSync(folder, { recursive: true });
      const module = join(folder, `${counter.replace("/", "-")}-${encoding}.mjs`);
      writeFileSync(module, counters[counter](encoding, "node"));
      const args = [fileURLToPath(import.meta.url), pathToFileURL(module).href, path, String(again)];
      const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 300_000 });
      return JSON.parse(stdout);
    },
    stop: async () => {},
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [module, path, again] = process.argv.slice(2);
  const text = readFileSync(path, "utf8");
  console.log(JSON.stringify(await measure(() => import(module), text, Number(again))));
}
