/** examples/node prints what its README says. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { installedExample, output } from "./example.mjs";

test("examples/node prints what its README says", () => {
  const example = installedExample("node");
  try {
    const printed = /^```text\n([\s\S]*?)^```/m.exec(example.readme)[1];
    assert.ok(output(example).endsWith(`\n${printed}`), output(example));
  } finally {
    example.remove();
  }
});
