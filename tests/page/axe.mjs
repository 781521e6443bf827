// axe's findings for a page.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ALL_LOOKS, choose, eventually, fitsAcross, isEveryLook, numberOf, screenshots } from "./harness.mjs";

const axe = readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Common mistakes in texts and numbers: "1 messages", "-5 %", "37.0 ms". */
export async function slips(page) {
  const text = await page.evaluate(() => document.body.innerText);
  const nouns =
    "bytes|characters|commits|edges|edits|entries|files|findings|messages|nodes|notes|pieces|points|records|tokens|turns";
  const all = [`\\b1 (?:[a-z]+ )?(?:${nouns})\\b`, "[(\\s]-\\d[\\d.]* ?%", "\\d\\.0 (?:ms|%|MB|kB)(?!\\w)"];
  return all.flatMap((slip) => text.match(new RegExp(slip, "gu")) ?? []);
}

/** Every finding of any severity, with its location; for all rules, or for some. */
export async function findings(page, rules) {
  // Through the debugger, because the page's policy blocks foreign scripts.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(await axe);
  return page.evaluate(async (rules) => {
    const options = { resultTypes: ["violations"], ...(rules ? { runOnly: rules } : {}) };
    const { violations } = await globalThis.axe.run(document, options);
    return violations.map(
      ({ id, impact, nodes }) =>
        `${id}, ${impact}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join(" | ")}`,
    );
  }, rules);
}

const CONTRAST = ["color-contrast"];

/** The sizes and themes of states. A wide page shows all panes at once, so that it is checked more often. */
const IN_TURN = ["wide light", "wide dark", "narrow light", "wide dark", "wide light", "narrow dark", "middling light"];

/** A size and a theme, which depend on the name of the state. With `CTXWEAVE_LOOKS=all` all of them. */
function someLooks(name) {
  if (isEveryLook) return ALL_LOOKS;
  const look = IN_TURN[numberOf(name) % IN_TURN.length];
  return ALL_LOOKS.filter(({ size, colorScheme }) => look === `${size} ${colorScheme}`);
}

/** Checks the page at some sizes and in both themes, every pane: no overflow, and no findings of axe. */
export async function inLooks(page, name) {
  for (const { size, width, height, colorScheme } of someLooks(name)) {
    const other = colorScheme === "dark" ? "light" : "dark";
    await page.setViewportSize({ width, height });
    const inTheme = (theme) => page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    await inTheme(colorScheme);
    // The picker of panes appears or disappears a frame after a resize.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const picker = page.getByRole("group", { name: "Pane" });
    // Content behind a dialog is not reachable.
    const isAsked = (await page.locator("dialog[open]").count()) > 0;
    const panes = isAsked ? [] : await picker.getByRole("radio").evaluateAll((all) => all.map(({ value }) => value));
    for (const pane of panes.length > 0 ? panes : [undefined]) {
      if (pane !== undefined) await choose(picker.locator(`input[value="${pane}"]`));
      await eventually(() => fitsAcross(page));
      const shown = `${name}-${size}-${colorScheme}${pane === undefined ? "" : `-${pane}`}`;
      await page.screenshot({ path: join(screenshots, `${shown}.png`) });
      assert.deepEqual(await slips(page), [], shown);
      // A theme changes only colours.
      const rules = isEveryLook && colorScheme === "dark" ? CONTRAST : undefined;
      await eventually(async () => assert.deepEqual(await findings(page, rules), [], shown), 2000);
      if (isEveryLook) continue;
      await inTheme(other);
      await eventually(async () => assert.deepEqual(await findings(page, CONTRAST), [], `${shown}, ${other}`), 2000);
      await inTheme(colorScheme);
    }
  }
}
