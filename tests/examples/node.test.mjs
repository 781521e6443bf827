/** examples/node prints the output in its README. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { installedExample, output } from "./example.mjs";

test("examples/node prints the output in its README", () => {
  const example = installedExample("node");
  try {
    const printed = /^```text\n([\s\S]*?)^```/m.exec(example.readme)[1];
    assert.ok(output(example).endsWith(`\n${printed}`), output(example));
  } finally {
    example.remove();
  }
});
