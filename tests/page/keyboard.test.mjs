// Each view by keyboard, at three sizes: everything usable is reached, the focus is visible, and nothing traps it.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { isEveryLook, openPage, start } from "./harness.mjs";

let site;
before(async () => {
  site = await start();
});
after(() => site.stop());

const VIEWS = [
  "start",
  "loom?tree=agent",
  "chats",
  "tokens?shown=split",
  "workspace",
  "folders",
  "operators",
  "commits",
];
const SIZES = [
  [1440, 900],
  [1024, 768],
  [390, 844],
];

/** Numbers all focusable elements, and lists them. Of radio buttons and tabs one counts. */
const number = (page) =>
  page.evaluate(() => {
    const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")];
    return all.flatMap((e, at) => {
      e.dataset.stop = String(at);
      const { width } = e.getBoundingClientRect();
      const isOne = e.matches("input[type=radio]:not(:checked), [role=tab][tabindex='-1']");
      if (e.disabled || e.tabIndex < 0 || isOne || width === 0 || !e.checkVisibility({ visibilityProperty: true }))
        return [];
      return [{ at, what: e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent ?? e.textContent.slice(0, 40) }];
    });
  });

/** Records each element that gets the focus, and whether its focus is visible. */
const record = (page) =>
  page.evaluate(() => {
    globalThis.stops = [];
    addEventListener("focusin", ({ target: e }) => {
      // The indicator of a radio button is on its label.
      const labeled = e.closest(".segmented label, .body-providers label") ? e.nextElementSibling : e;
      // That of the editor is on its frame.
      const shown = e.closest(".code-frame") ?? labeled;
      const { outlineStyle, outlineWidth } = getComputedStyle(shown);
      globalThis.stops.push({
        at: Number(e.dataset.stop ?? -1),
        what: e.getAttribute("aria-label") ?? e.textContent.slice(0, 40),
        seen: outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 1,
      });
    });
    // At the end the focus leaves the page.
    addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget === null) globalThis.stops.push("left");
    });
  });

describe("keyboard", () => {
  for (const [at, [width, height]] of SIZES.entries()) {
    // Each view on a phone and at one other size.
    const isChecked = (_, place) => isEveryLook || width === 390 || place % 2 === at;
    for (const view of VIEWS.filter(isChecked)) {
      it(`${view} at ${width}`, async () => {
        const { page, close } = await openPage(site, `#/${view}`, { width, height });
        await page.locator("main h1").first().waitFor({ state: "attached" });
        await page.waitForTimeout(500);
        const wanted = await number(page);
        assert.ok(wanted.length > 10, `${wanted.length} things to use`);
        await record(page);
        let stops = [];
        // In batches: to ask after each key takes longer than the keys.
        for (let keys = 0; keys < wanted.length + 40 && !stops.includes("left"); keys += 10) {
          for (let key = 0; key < 10; key++) await page.keyboard.press("Tab");
          stops = await page.evaluate(() => globalThis.stops);
        }
        assert.ok(stops.includes("left"), "the focus leaves the page at the end");
        const before = stops.slice(0, stops.indexOf("left"));
        const reached = new Set(before.map(({ at }) => at));
        const unseen = before.filter(({ seen }) => !seen).map(({ what }) => what);
        assert.deepEqual(unseen, [], "the focus is visible everywhere");
        assert.deepEqual(
          wanted.filter(({ at }) => !reached.has(at)).map(({ what }) => what),
          [],
          "everything is reached",
        );
        await close();
      });
    }
  }
});
