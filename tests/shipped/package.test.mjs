/** The published package. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { areas } from "../../pkg/exports.mjs";
import { pack, root } from "../packaging/packed.mjs";

const { files, size, unpackedSize, remove } = pack();
after(remove);

test("the package is within its size limits", () => {
  assert.ok(size <= 8_600_000, `${size} bytes packed`);
  assert.ok(unpackedSize <= 16_000_000, `${unpackedSize} bytes unpacked`);
  assert.ok(files.length <= 300, `${files.length} files`);
});

test("no module is a quick one", () => {
  for (const area of ["", ...areas]) {
    const module = new WebAssembly.Module(readFileSync(join(root, "pkg/dist", area, "ctxweave.wasm")));
    assert.deepEqual(WebAssembly.Module.customSections(module, "quick-build"), [], area);
  }
});
