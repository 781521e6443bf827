/** TypeScript: the declarations, in projects with few libraries. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../parts/process.mjs";

/** The entry points, except the drop-ins, whose hosts are not installed. */
function entries(workspace) {
  const { exports } = JSON.parse(readFileSync(join(workspace.modules, "ctxweave/package.json"), "utf8"));
  const hooks = /ai-sdk|langchain|openai-agents/;
  return Object.keys(exports)
    .filter((entry) => typeof exports[entry] === "object" && !hooks.test(entry))
    .map((entry) => `ctxweave${entry.slice(1)}`);
}

const checked = (tool, what, compilerOptions, file, load) => ({
  tool,
  what,
  async run(workspace) {
    const of = entries(workspace);
    const names = of.map((_, at) => `e${at}`).join(", ");
    const isRequired = load === "require";
    const imports = of.map((entry, at) =>
      isRequired ? `import e${at} = require("${entry}");` : `import * as e${at} from "${entry}";`,
    );
    const options = { noEmit: true, strict: true, target: "es2022", lib: ["es2022"], types: [], skipLibCheck: false };
    const dir = workspace.dir(`${tool} ${what}`, {
      [file]: `${imports.join("\n")}\n${isRequired ? `export = [${names}]` : `export default [${names}]`};\n`,
      "tsconfig.json": JSON.stringify({ compilerOptions: { ...options, ...compilerOptions }, files: [file] }),
    });
    const bin = tool === "typescript" ? "typescript/bin/tsc" : "typescript5/bin/tsc";
    await run(process.execPath, [join(workspace.modules, bin), "-p", "."], { cwd: dir });
    return { how: "" };
  },
});

export const types = ["typescript", "typescript5"].flatMap((tool) => [
  checked(tool, "`node16`, CommonJS, without `DOM`, `skipLibCheck: false`", { module: "node16" }, "all.cts", "require"),
  checked(tool, "`nodenext`, ES module, the same", { module: "nodenext" }, "all.mts", "import"),
  checked(
    tool,
    "`moduleResolution: bundler`, the same",
    { module: "esnext", moduleResolution: "bundler" },
    "all.ts",
    "import",
  ),
]);
