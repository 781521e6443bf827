// What axe says of a page.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const axe = readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Slips in words and numbers: "1 messages", "-5 %", "37.0 ms". */
export async function slips(page) {
  const text = await page.evaluate(() => document.querySelector("main")?.innerText ?? "");
  const nouns =
    "bytes|characters|commits|edits|entries|files|findings|messages|nodes|notes|pieces|points|records|tokens|turns";
  const all = [`\\b1 (?:${nouns})\\b`, "[(\\s]-\\d[\\d.]* ?%", "\\d\\.0 (?:ms|%|MB|kB)(?!\\w)"];
  return all.flatMap((slip) => text.match(new RegExp(slip, "gu")) ?? []);
}

/** Every finding, however small, each with where it is. */
export async function findings(page) {
  // Through the debugger, since the page's own policy rightly refuses foreign scripts.
  await page.evaluate(await axe);
  return page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return violations.map(
      ({ id, impact, nodes }) =>
        `${id}, ${impact}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join(" | ")}`,
    );
  });
}
