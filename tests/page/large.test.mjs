// The Loom view on large trees: the drawing, the number of elements, and navigation by keys and pointer.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { assembleDialogue, init } from "ctxweave";
import { findings } from "./axe.mjs";
import { eventually, expectedTotals, shownTotals, start, visit } from "./harness.mjs";
import { largeTree, openLarge } from "./large-tree.mjs";

let site;
before(async () => {
  await init();
  site = await start();
});
after(() => site.stop());

const COUNT = 10_000;
const on = (steps, options) =>
  visit(
    site,
    "#/loom?tree=agent",
    async (page) => {
      await openLarge(page, COUNT);
      await steps(page);
    },
    options,
  );

const tree = (page) => page.getByRole("tree");
const selected = (page) => page.locator('[role="treeitem"][aria-selected="true"]').getAttribute("data-node");
const shown = (page) => page.locator(".inspector").getAttribute("data-node-shown");

/** The active node of the tree. */
async function active(page) {
  const id = await tree(page).getAttribute("aria-activedescendant");
  return page.locator(`[id="${id}"]`).getAttribute("data-node");
}

/**
 * The number of painted pixels in each of these squares. The canvas is read once, because it is optimized for painting.
 */
const paintedIn = (page, boxes) =>
  page.evaluate((boxes) => {
    const canvas = document.querySelector(".surface canvas");
    const { left, top } = canvas.getBoundingClientRect();
    const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return boxes.map((box) => {
      let painted = 0;
      for (let y = Math.round(box.y - top); y < box.y - top + box.height; y++) {
        for (let x = Math.round(box.x - left); x < box.x - left + box.width; x++) {
          if (data[(y * width + x) * 4 + 3] > 0) painted++;
        }
      }
      return painted;
    });
  }, boxes);

describe("ten thousand nodes", () => {
  it("have few elements, and visible nodes are painted at their positions", async () => {
    await on(async (page) => {
      const items = await page.getByRole("treeitem").count();
      assert.ok(items > 5 && items < 100, `${items} items`);
      await eventually(async () =>
        assert.ok((await page.evaluate(() => document.querySelectorAll("*").length)) < 2500),
      );
      const surface = await tree(page).boundingBox();
      const boxes = await Promise.all((await page.getByRole("treeitem").all()).map((item) => item.boundingBox()));
      const inSight = boxes.filter(
        ({ x, y, width, height }) =>
          x > surface.x &&
          y > surface.y &&
          x + width < surface.x + surface.width &&
          y + height < surface.y + surface.height,
      );
      assert.ok(inSight.length > 3, `${inSight.length} visible`);
      const painted = await paintedIn(page, inSight);
      assert.deepEqual(
        painted.filter((pixels) => pixels < 60),
        [],
      );
      assert.deepEqual(await findings(page), []);
    });
  });

  it("are dots when all are visible", async () => {
    await on(async (page) => {
      await tree(page).focus();
      await page.keyboard.press("0");
      const box = await tree(page).boundingBox();
      await page.waitForTimeout(300);
      await eventually(async () => assert.ok((await paintedIn(page, [box]))[0] > 2000));
    });
  });

  it("can be navigated and assembled by keys", async () => {
    const data = largeTree(COUNT);
    const above = new Map(data.edges.map(({ sources, targetNodeId }) => [targetNodeId, sources[0].nodeId]));
    await on(async (page) => {
      const tip = await selected(page);
      await tree(page).focus();
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("ArrowUp");
      const up = above.get(above.get(tip));
      await eventually(async () => assert.equal(await active(page), up));
      await eventually(async () => {
        assert.equal(await shown(page), up);
        assert.equal(await selected(page), tip, "moving is not picking");
      });
      await page.keyboard.press("Enter");
      await eventually(async () => assert.equal(await selected(page), up));
      const { report } = assembleDialogue({ tree: data, tip: up, contextWindow: 8192 });
      await eventually(async () => assert.deepEqual(await shownTotals(page), expectedTotals(report, 8192)));
      await page.keyboard.press("Home");
      await eventually(async () => assert.equal(await active(page), "n0"));
      const item = page.locator('[data-node="n0"]');
      await eventually(async () => assert.equal(await item.getAttribute("aria-level"), "1"));
      const [box, surface] = [await item.boundingBox(), await tree(page).boundingBox()];
      assert.ok(box.y >= surface.y && box.y < surface.y + surface.height, "it was scrolled into view");
      for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
      const deep = await active(page);
      const beside = [await active(page)];
      for (const key of ["ArrowRight", "ArrowLeft", "ArrowLeft", "ArrowRight"]) {
        await page.keyboard.press(key);
        beside.push(await active(page));
      }
      assert.ok(new Set(beside).size > 1, `${beside}`);
      await eventually(async () =>
        assert.equal(await page.locator(`[data-node="${deep}"]`).getAttribute("aria-level"), "4"),
      );
      await page.keyboard.press("End");
      await eventually(async () => assert.equal(await active(page), up));
    });
  });

  it("are picked by click, and inspected with Shift", async () => {
    await on(async (page) => {
      const tip = await selected(page);
      const surface = await tree(page).boundingBox();
      const near = await page.getByRole("treeitem").evaluateAll(
        (items, { x, y, width, height }) =>
          items
            .map((item) => ({ id: item.dataset.node, box: item.getBoundingClientRect() }))
            .filter(({ box }) => box.left > x && box.right < x + width && box.top > y && box.bottom < y + height - 60)
            .map(({ id }) => id),
        surface,
      );
      const other = near.find((id) => id !== tip);
      await page.locator(`[data-node="${other}"]`).click({ modifiers: ["Shift"] });
      await eventually(async () => assert.equal(await active(page), other));
      await eventually(async () => assert.equal(await selected(page), tip));
      await page.locator(`[data-node="${other}"]`).click();
      await eventually(async () => assert.equal(await selected(page), other));
    });
  });

  it("moving the drawing adds or removes no elements", async () => {
    await on(async (page) => {
      const changed = await page.evaluate(async () => {
        const surface = document.querySelector('[role="tree"]');
        const names = new Set();
        const note = (list) => list.forEach(({ target, type }) => names.add(`${target.className} ${type}`));
        const observer = new MutationObserver(note);
        observer.observe(surface, { subtree: true, childList: true, attributes: true, characterData: true });
        const { left, top } = surface.getBoundingClientRect();
        for (let i = 0; i < 30; i++) {
          const at = { clientX: left + 200, clientY: top + 200, bubbles: true, cancelable: true };
          surface.dispatchEvent(new WheelEvent("wheel", { deltaY: i % 2 ? 30 : -60, ctrlKey: i % 4 === 0, ...at }));
          await new Promise(requestAnimationFrame);
        }
        observer.disconnect();
        return [...names];
      });
      assert.deepEqual(changed, ["items attributes"]);
    });
  });

  it("an exclusion moves no node", async () => {
    await on(async (page) => {
      const tip = await selected(page);
      const before = await page.locator(`[data-node="${tip}"]`).boundingBox();
      await page.getByRole("button", { name: "Exclude", exact: true }).click();
      await page.getByRole("button", { name: "Include again" }).waitFor();
      assert.deepEqual(await page.locator(`[data-node="${tip}"]`).boundingBox(), before);
      await eventually(async () =>
        assert.match(await page.locator(`[data-node="${tip}"]`).getAttribute("aria-label"), /excluded/),
      );
    });
  });

  it("all are in the list, which has elements only for visible ones", async () => {
    await on(async (page) => {
      await page.getByRole("tab", { name: "List" }).click();
      await page.getByLabel("Which nodes").selectOption("all");
      await page.getByText("10,000 nodes.").waitFor();
      await eventually(async () => assert.ok((await page.locator("[data-pick]").count()) < 80));
      const list = page.locator(".found-nodes");
      await list.evaluate((e) => e.scrollTo(0, e.scrollHeight));
      await page.locator('[data-pick="n9999"]').click();
      await eventually(async () =>
        assert.equal(await page.locator('[data-pick="n9999"]').getAttribute("aria-current"), "true"),
      );
      // By key: the focus moves to items that were not rendered before.
      await list.evaluate((e) => e.scrollTo(0, 0));
      await page.locator('[data-pick="n0"]').focus();
      // More keys than frames.
      await Promise.all(Array.from({ length: 60 }, () => page.keyboard.press("Tab")));
      await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.dataset.pick), "n60"));
    });
  });
});

describe("one path of ten thousand nodes", () => {
  it("is listed from its beginning, and further on request", async () => {
    await visit(site, "#/loom?tree=agent", async (page) => {
      await openLarge(page, COUNT, 1);
      await page.locator(".gap summary").first().waitFor();
      await eventually(async () =>
        assert.ok((await page.evaluate(() => document.querySelectorAll("*").length)) < 6000),
      );
      await page.getByRole("tab", { name: /Report/ }).click();
      await page.locator('[data-row="n0"]').waitFor();
      await eventually(async () => assert.equal(await page.locator("[data-row]").count(), 300));
      await page.getByRole("button", { name: "Show 300 more of 10,000" }).click();
      await eventually(async () => assert.equal(await page.locator("[data-row]").count(), 600));
    });
  });
});
