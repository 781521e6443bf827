// What axe says of a page.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const axe = readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

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
