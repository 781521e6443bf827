/** Test runners. */

import { join } from "node:path";
import { expectFailure } from "../parts/cases.mjs";
import { run } from "../parts/process.mjs";
import { all, program } from "../parts/program.mjs";

/** A test that runs the program. */
const loads = (environment) => `/** @jest-environment ${environment} */
const { run } = require("./program.cjs");
test("loads", async () => expect(await run()).toBe("OK"));
`;

const jest = (environment) => ({
  tool: "jest",
  what: `environment \`${environment}\``,
  async run(workspace) {
    const dir = workspace.dir(`jest ${environment}`, {
      "program.cjs": program(all, { cjs: true }),
      "loads.test.js": loads(environment),
      "package.json": '{ "jest": {} }\n',
    });
    await run(process.execPath, [join(workspace.modules, "jest/bin/jest.js"), "--no-cache"], { cwd: dir });
    return { how: "files" };
  },
});

const inline = {
  tool: "jest",
  what: "`ctxweave/inline`",
  line: "`ctxweave` instead",
  async run(workspace) {
    const dir = workspace.dir("jest inline", {
      "program.cjs": program({ entries: ["ctxweave/inline"], tokenizers: [] }, { cjs: true }),
      "loads.test.js": loads("node"),
      "package.json": '{ "jest": {} }\n',
    });
    const jest = [join(workspace.modules, "jest/bin/jest.js"), "--no-cache"];
    await expectFailure(() => run(process.execPath, jest, { cwd: dir }), /experimental-vm-modules/);
    return { how: "no" };
  },
};

const vitest = (environment, inline) => ({
  tool: "vitest",
  what: `environment \`${environment}\`${inline ? ", the package inlined" : ""}`,
  async run(workspace) {
    const dir = workspace.dir(`vitest ${environment} ${inline}`, {
      "program.mjs": program(all),
      "loads.test.mjs": `import { expect, test } from "vitest";
import { run } from "./program.mjs";
test("loads", async () => expect(await run()).toBe("OK"));
`,
      "vitest.config.mjs": `export default { test: ${JSON.stringify({ environment, ...(inline && { server: { deps: { inline: [/ctxweave/.source] } } }) })} };\n`,
    });
    const path = join(workspace.modules, "vitest/vitest.mjs");
    await run(workspace.newerNode, [path, "run"], { cwd: dir });
    return { how: "files" };
  },
});

export const testers = [
  jest("node"),
  jest("jsdom"),
  inline,
  vitest("node", false),
  vitest("jsdom", false),
  vitest("node", true),
];
