// Generates the pictures of the page from the page itself: `node www/pictures.mjs`. The icons in their sizes, and for
// each view the preview of links to it (1200 × 630).

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { openPage, start, viewList } from "../tests/page/harness.mjs";

const to = (name) => fileURLToPath(new URL(`public/${name}`, import.meta.url));
const site = await start();
const icon = await readFile(to("icon.svg"), "utf8");

for (const size of [192, 512]) {
  const page = await site.context.newPage();
  await page.setViewportSize({ width: size, height: size });
  // The large one fills its square, because platforms crop it to their shapes.
  const drawn = size === 512 ? icon.replace('rx="8"', "") : icon;
  await page.setContent(`<style>body { margin: 0 } svg { display: block; inline-size: 100vw }</style>${drawn}`);
  await page.screenshot({ path: to(`icon-${size}.png`), omitBackground: true });
  await page.close();
}
for (const { id } of await viewList()) {
  const { page, close } = await openPage(site, `#/${id}`, { width: 1200, height: 630 });
  await page.waitForTimeout(500);
  await page.screenshot({ path: to(`preview/${id}.jpg`), type: "jpeg", quality: 60 });
  await close();
}
await site.stop();
