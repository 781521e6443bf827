/** Judges what a runtime made of the scenario. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../packaging/packed.mjs";

/** Everything that the scenario gives must be as the goldens say, byte for byte. */
export function judge({ early, version, counts, outputs }, { goldens }) {
  assert.equal(early, "not_initialized", "a call before init says so");
  assert.equal(version, JSON.parse(readFileSync(join(root, "pkg/package.json"), "utf8")).version);
  assert.deepEqual(counts.batch, counts.single);
  assert.deepEqual(counts.upTo, counts.single);
  assert.equal(counts.single[0], 0);
  assert.ok(
    counts.over.every((count) => count === null),
    "one token less than it has is too few",
  );
  assert.equal(outputs.length, goldens.length);
  assert.ok(goldens.length > 0, "there are goldens");
  for (const [at, { name, expected }] of goldens.entries()) {
    assert.equal(outputs[at].name, name);
    assert.equal(outputs[at].output, expected, `golden ${name}`);
  }
}
