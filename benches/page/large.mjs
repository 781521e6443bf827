// The cost of a wheel tick, a key and a slider step in the Loom view on large trees: `node benches/page/large.mjs`
// prints the table for docs/benchmarks.md. Chromium paints without a graphics card.

import { parseArgs } from "node:util";
import { openLarge } from "../../tests/page/large-tree.mjs";
import { openPage, start } from "../../tests/page/harness.mjs";

const { values } = parseArgs({ options: { quick: { type: "boolean" } } });
const site = await start();
const rows = [];
for (const count of values.quick ? [50, 1000] : [50, 1000, 10_000, 100_000]) {
  const { page, close } = await openPage(site, "#/loom?tree=agent");
  const debug = await page.context().newCDPSession(page);
  await debug.send("Performance.enable");
  const spent = async () => {
    const { metrics } = await debug.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration").value * 1000;
  };
  /** Milliseconds of the main thread per step: the minimum of three runs. */
  const measure = async (steps, step) => {
    let best = Number.POSITIVE_INFINITY;
    for (let time = 0; time < 3; time++) {
      await page.waitForTimeout(200);
      const before = await spent();
      for (let i = 0; i < steps; i++) {
        await step(i);
        await page.evaluate(() => new Promise(requestAnimationFrame));
      }
      best = Math.min(best, ((await spent()) - before) / steps);
    }
    return best.toFixed(1);
  };
  const opened = performance.now();
  if (count > 50) await openLarge(page, count);
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  const opening = count > 50 ? `${Math.round(performance.now() - opened)}` : "";
  const elements = await page.evaluate(() => document.querySelectorAll("*").length);
  const tree = page.getByRole("tree");
  const box = await tree.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const wheel = (i) => page.mouse.wheel(i % 2 ? -60 : 40, i % 3 ? -80 : 90);
  const near = await measure(40, wheel);
  const moving = Math.round(await framesWhileMoving(page));
  await page.getByRole("button", { name: "Show the whole tree" }).click();
  await page.waitForTimeout(300);
  const far = await measure(40, wheel);
  await page.getByRole("button", { name: "Go to the tip" }).click();
  await tree.focus();
  const key = await measure(40, (i) => page.keyboard.press(i < 20 ? "ArrowUp" : "ArrowDown"));
  const pick = await measure(10, async (i) => {
    await page.keyboard.press(i % 2 ? "ArrowUp" : "ArrowDown");
    await page.keyboard.press("Enter");
  });
  await page.getByRole("slider", { name: "Context window" }).first().focus();
  const slider = await measure(20, (i) => page.keyboard.press(i < 10 ? "ArrowLeft" : "ArrowRight"));
  const most = await page.evaluate(() => document.querySelectorAll("*").length);
  rows.push([
    count.toLocaleString("en"),
    Math.max(elements, most).toLocaleString("en"),
    near,
    moving,
    far,
    key,
    pick,
    slider,
    opening,
  ]);
  await close();
}
await site.stop();

/** Frames per second while the drawing moves; the best of three seconds. */
function framesWhileMoving(page) {
  return page.evaluate(async () => {
    const surface = document.querySelector('[role="tree"]');
    const { left, top } = surface.getBoundingClientRect();
    let best = 0;
    for (let second = 0; second < 3; second++) {
      const begun = performance.now();
      let frames = 0;
      while (performance.now() - begun < 1000) {
        const at = { clientX: left + 150, clientY: top + 150, bubbles: true, cancelable: true };
        surface.dispatchEvent(new WheelEvent("wheel", { deltaX: frames % 60 < 30 ? 9 : -9, deltaY: 2, ...at }));
        await new Promise(requestAnimationFrame);
        frames++;
      }
      best = Math.max(best, (frames * 1000) / (performance.now() - begun));
    }
    return best;
  });
}

const head = [
  "nodes",
  "elements",
  "wheel, close",
  "frames a second",
  "wheel, whole tree",
  "arrow key",
  "pick",
  "slider",
  "opening, ms",
];
console.log(`| ${head.join(" | ")} |\n|${head.map(() => " --: |").join("")}`);
for (const row of rows) console.log(`| ${row.join(" | ")} |`);
