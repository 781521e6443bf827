/** The third-party notices: real holders, and the license of all data. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { installed } from "./packed.mjs";

const noticesOf = (name) => readFileSync(join(installed(), "node_modules", name, "THIRD-PARTY-NOTICES.md"), "utf8");

test("no notice has an invented holder", () => {
  for (const name of ["ctxweave", "ctxweave-tiktoken", "ctxweave-vocab"]) {
    assert.doesNotMatch(noticesOf(name), /the authors of/, name);
  }
  for (const name of ["ctxweave", "ctxweave-tiktoken"]) {
    const [, text] = /^## fast-glob [^]*?```text\n([^]*?)```/m.exec(noticesOf(name));
    for (const holder of ["2023 Devon Govett", "2024 shulaoda", "2025-present VoidZero Inc."]) {
      assert.ok(text.includes(`Copyright (c) ${holder}`), holder);
    }
  }
  assert.match(noticesOf("ctxweave-tiktoken"), /^## tiktoken-rs [^]*?Copyright \(c\) Roger Zurawicki/m);
});

test("the table of grapheme clusters has Unicode's license", () => {
  for (const name of ["ctxweave", "ctxweave-tiktoken"]) {
    const [, text] = /^## The table of grapheme clusters.*\n\n```text\n([^]*?)```/m.exec(noticesOf(name)) ?? [];
    assert.match(text, /^UNICODE LICENSE V3\n[^]*Copyright © 1991-\d+ Unicode, Inc\.[^]*Data\nFiles or Software/);
  }
});
