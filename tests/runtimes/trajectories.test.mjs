// Trajectories that ctxweave writes, validated by Harbor, whose models define ATIF. pip installs it once; if it cannot,
// the test fails.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { installed } from "../packaging/packed.mjs";
import { pythonPackages } from "../python/packages.mjs";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));

/** Reads trajectories from files, and prints the errors of each as JSON. */
const validate = `
import json, sys
from harbor.models.trajectories import Trajectory
found = []
for path in sys.argv[1:]:
    try:
        Trajectory.model_validate_json(open(path, "rb").read())
        found.append(None)
    except Exception as error:
        found.append(str(error))
print(json.dumps(found))
`;

let ctxweave;
let harbor;

before(async () => {
  ctxweave = await import(pathToFileURL(join(installed(), "node_modules/ctxweave/dist/node.js")));
  await ctxweave.init();
  harbor = await pythonPackages("harbor");
});

/** The errors of trajectories; `null` for a valid one. */
async function errorsOf(trajectories) {
  const folder = await mkdtemp(join(root, "target/trajectories-"));
  try {
    const paths = [];
    for (const [at, bytes] of trajectories.entries()) {
      paths.push(join(folder, `${at}.json`));
      await writeFile(paths.at(-1), bytes);
    }
    const { stdout } = await run("python3", ["-c", validate, ...paths], {
      env: { ...process.env, PYTHONPATH: harbor },
    });
    return JSON.parse(stdout);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("Harbor accepts every trajectory, and refuses broken ones", async () => {
  const trajectories = [];
  const names = [];
  for (const folder of ["tests/sessions", "examples/sessions"]) {
    for (const name of await readdir(join(root, folder))) {
      if (name === "README.md") continue;
      const bytes = await readFile(join(root, folder, name));
      const format = ctxweave.detectFormat(bytes);
      assert.ok(format, name);
      const parts = [{ format, bytes }];
      for (const throughCompactions of [false, true]) {
        const request = { parts, format: "atif-1.7", crossFamily: "transcode", throughCompactions };
        trajectories.push(ctxweave.translateTranscript(request).bytes);
        names.push(name);
      }
    }
  }
  const image = { type: "image", mimeType: "image/png", data: "aGk=" };
  const blocks = [
    { role: "system", content: "be brief" },
    { role: "user", content: [{ type: "text", text: "look" }, image] },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "I look." },
        { type: "toolCall", id: "a", name: "look", arguments: "not JSON" },
        { type: "text", text: "And again." },
        { type: "toolCall", id: "b", name: "look", arguments: {} },
      ],
    },
    { role: "user", content: [{ type: "toolResult", toolCallId: "a", content: [image], isError: true }] },
    { role: "user", content: [{ type: "toolResult", toolCallId: "lost", content: "x" }] },
  ];
  const bytes = blocks.map((line) => JSON.stringify(line)).join("\n");
  const generic = { format: "generic-v1", bytes };
  const done = ctxweave.translateTranscript({ parts: [generic], format: "atif-1.7", crossFamily: "transcode" });
  trajectories.push(done.bytes);
  // Joined parts, one of them native.
  const parts = [{ format: "atif-1.7", bytes: done.bytes }, generic, { format: "atif-1.7", bytes: done.bytes }];
  trajectories.push(ctxweave.translateTranscript({ parts, format: "atif-1.7", crossFamily: "transcode" }).bytes);
  names.push("blocks", "joined");
  const broken = JSON.parse(new TextDecoder().decode(done.bytes));
  broken.steps[0].step_id = 7;
  trajectories.push(JSON.stringify(broken));
  const errors = await errorsOf(trajectories);
  assert.match(errors.pop(), /step_id/);
  assert.equal(names.length, 36);
  errors.forEach((error, at) => assert.equal(error, null, names[at]));
});
