// Edits of a large text: what a worker receives equals the text of the page, whatever was edited in between.

import assert from "node:assert/strict";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const { module } = await runnerImport(fileURLToPath(new URL("../../www/src/ui/text-edits.ts", import.meta.url)));
const { applyEdits, editsBetween, join, sliceOf } = module;

/** Pseudo-random numbers, always the same. */
function numbers(seed) {
  let state = seed;
  return (below) => Math.floor((below * (state = (state * 48_271) % 2_147_483_647)) / 2_147_483_647);
}

it("edits lead from the sent text to the current one, through undo and other texts", () => {
  for (let seed = 1; seed < 200; seed++) {
    const random = numbers(seed);
    const word = () => "wool🧶warp".slice(random(4), 4 + random(6));
    const texts = ["the warp and the weft"];
    let sent = texts[0];
    let copy = sent;
    for (let step = 0; step < 40; step++) {
      const now = texts.at(-1);
      const from = random(now.length + 1);
      const to = from + random(now.length - from + 1);
      const kind = random(10);
      if (kind === 0) texts.push(texts[random(texts.length)]);
      else if (kind === 1) texts.push(`${word()} ${word()}`);
      else texts.push(join(now, [now.slice(0, from), word(), now.slice(to)]));
      const text = texts.at(-1);
      assert.equal(sliceOf(text, from, to), text.slice(from, to));
      if (random(3) > 0) continue;
      const edits = editsBetween(sent, text);
      copy = edits ? applyEdits(copy, edits) : text;
      sent = text;
      assert.equal(copy, text, `seed ${seed}, step ${step}`);
    }
  }
});

it("edits of a field are known until it has had very many", () => {
  const base = "a".repeat(1000);
  const first = join(base, [base.slice(0, 500), "b", base.slice(500)]);
  assert.deepEqual(editsBetween(base, first), [{ at: 500, removed: 0, inserted: "b" }]);
  let now = first;
  for (let at = 0; at < 50; at++) now = join(now, [now.slice(0, 500), "c", now.slice(501)]);
  assert.equal(applyEdits(base, editsBetween(base, now)), now);
  for (let at = 0; at < 150; at++) now = join(now, [now.slice(0, 500), "cd", now.slice(501)]);
  assert.equal(editsBetween(base, now), undefined);
});
