// What the page keeps: the tip of an export, the undo steps over a reload, and the documents of two tabs.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { importLoom, init } from "ctxweave/import";
import { findings } from "./axe.mjs";
import { agreeing, drop, eventually, fitsAcross, holds, LOOKS, screenshots, start, visit } from "./harness.mjs";

const golden = fileURLToPath(new URL("../golden/import/", import.meta.url));

let site;
before(async () => {
  await init();
  site = await start();
});
after(() => site.stop());

/** A ChatGPT export: a short branch is the current one, an older branch is longer. */
const message = (id, parent, children, role, text) => ({
  id,
  parent,
  children,
  message: { id, author: { role }, create_time: 1, content: { content_type: "text", parts: [text] } },
});
const EXPORT = JSON.stringify([
  {
    title: "Two branches",
    current_node: "short",
    mapping: Object.fromEntries(
      [
        { id: "root", parent: null, children: ["ask"], message: null },
        message("ask", "root", ["long-1", "short"], "user", "Which branch?"),
        message("long-1", "ask", ["long-2"], "assistant", "The long one."),
        message("long-2", "long-1", ["long-3"], "user", "Go on."),
        message("long-3", "long-2", [], "assistant", "It goes on."),
        message("short", "ask", [], "assistant", "The short one."),
      ].map((node) => [node.id, node]),
    ),
  },
]);

describe("an export of another loom", () => {
  it("opens at its current node, also after a reload", async () => {
    await visit(site, "#/start", async (page) => {
      await drop(page, "conversations.json", EXPORT);
      const result = page.locator(".result-pane");
      await result.getByText("The short one.").first().waitFor();
      assert.equal(await result.getByText("It goes on.").count(), 0);
      await page.reload();
      await result.getByText("The short one.").first().waitFor();
    });
  });

  for (const name of ["chatgpt", "pyloom", "pyloom-old"]) {
    it(`${name}: each tree at its tip`, async () => {
      const json = await readFile(join(golden, `${name}.json`), "utf8");
      const { file } = JSON.parse(json).args ? { file: JSON.parse(json).args[0] } : { file: JSON.parse(json) };
      const text = typeof file === "string" ? file : JSON.stringify(file);
      const { trees } = importLoom(text);
      await visit(site, "#/start", async (page) => {
        await agreeing(page);
        await drop(page, `${name}.json`, text);
        for (const [place, { tip }] of trees.entries()) {
          if (place > 0) await page.getByLabel("Tree", { exact: true }).selectOption(String(place));
          await eventually(async () =>
            assert.equal(await page.evaluate(() => new URLSearchParams(location.hash.split("?")[1]).get("tip")), tip),
          );
        }
      });
    });
  }
});

const field = (page) => page.getByLabel("Task template, XML");
const template = (text) => `<task type="atomic"><description>${text}</description></task>`;
const kept = (page) => page.getByText("Kept in this browser").waitFor();
const elsewhere = (page) => page.getByText("Also open in another tab");
const holdsTask = (page, text) => holds(field(page), template(text));

async function write(page, text) {
  await field(page).fill(template(text));
  // Edits within a second are one step.
  await page.waitForTimeout(1100);
  await kept(page);
}

/** Another tab of the same browser. */
async function tab() {
  const page = await site.context.newPage();
  page.setDefaultTimeout(30_000);
  await page.goto(`${site.url}#/operators`);
  await field(page).waitFor();
  return page;
}

describe("undo", () => {
  it("survives a reload, and redo as well", async () => {
    await visit(site, "#/operators", async (page) => {
      for (const text of ["one", "two", "three"]) await write(page, text);
      await page.getByRole("button", { name: "Undo" }).click();
      await holdsTask(page, "two");
      await kept(page);
      await page.reload();
      await holdsTask(page, "two");
      await page.getByRole("button", { name: "Redo" }).click();
      await holdsTask(page, "three");
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByRole("button", { name: "Undo" }).click();
      await holdsTask(page, "one");
    });
  });

  it("brings back a replaced document after a reload", async () => {
    await visit(site, "#/operators", async (page) => {
      await agreeing(page);
      await write(page, "mine");
      await page.getByRole("radio", { name: "Reduce" }).click({ force: true });
      await page.getByText("Sum up all inputs").first().waitFor();
      assert.equal(await page.getByText("Kept in this browser").count(), 0, "a sample is not the user's");
      await page.waitForTimeout(300);
      await page.reload();
      await page.getByRole("button", { name: "Undo" }).click();
      await holdsTask(page, "mine");
      await kept(page);
    });
  });

  it("has no steps that are left of a document that could not be restored", async () => {
    await visit(site, "#/operators", async (page) => {
      await write(page, "lost");
      // The record of the tab is lost, and a later state is left.
      await page.evaluate(async (value) => {
        const request = (of) => new Promise((done) => (of.onsuccess = () => done(of.result)));
        const database = await request(indexedDB.open("ctxweave"));
        const store = database.transaction("views", "readwrite").objectStore("views");
        const tab = sessionStorage.getItem("ctxweave.tab");
        await request(store.delete(`head/operators/${tab}`));
        await request(store.put({ value, own: true, step: 99 }, `state/operators/${tab}/99`));
        database.close();
      }, template("left"));
      await page.reload();
      await page.getByRole("radio", { name: "Reduce" }).waitFor();
      await write(page, "new");
      await page.reload();
      await holdsTask(page, "new");
      assert.equal(await page.getByRole("button", { name: "Redo" }).count(), 0);
    });
  });
});

describe("two tabs", () => {
  it("each keep their work over a reload, and the later one is told", async () => {
    await visit(site, "#/operators", async (one) => {
      await write(one, "first");
      const other = await tab();
      await holdsTask(other, "first");
      await elsewhere(other).waitFor();
      assert.equal(await elsewhere(one).count(), 0);
      await write(other, "second");
      await write(one, "first, changed");
      await Promise.all([one.reload(), other.reload()]);
      await holdsTask(one, "first, changed");
      await holdsTask(other, "second");
      await kept(other);
      await kept(one);
      // Nothing of the closed tab is lost.
      await other.close();
      await one.reload();
      await holdsTask(one, "first, changed");
      await one.getByRole("button", { name: /Open the document of a closed tab/ }).click();
      await holdsTask(one, "second");
      await one.getByRole("button", { name: "Undo" }).click();
      await holdsTask(one, "first, changed");
    });
  });

  it("the later one to begin a document is told as well", async () => {
    await visit(site, "#/operators", async (one) => {
      const other = await tab();
      await write(one, "first");
      await write(other, "second");
      await elsewhere(other).waitFor();
      await one.reload();
      await holdsTask(one, "first");
      await other.close();
    });
  });

  it("a closed tab's document is continued by the next, and nothing is called kept that is not", async () => {
    await visit(site, "#/operators", async (one) => {
      const other = await tab();
      await write(other, "left");
      await other.close();
      const next = await tab();
      await holdsTask(next, "left");
      await kept(next);
      await next.getByRole("button", { name: "Undo" }).waitFor();
      assert.equal(await elsewhere(next).count(), 0);
      // Site data is deleted meanwhile.
      await one.evaluate(() => new Promise((resolve) => (indexedDB.deleteDatabase("ctxweave").onsuccess = resolve)));
      await next.getByText("Kept in this browser").waitFor({ state: "detached" });
      await field(next).fill(template("again"));
      await kept(next);
      await next.reload();
      await holdsTask(next, "again");
      await next.close();
    });
  });

  for (const look of LOOKS) {
    it(`looks right: ${look.size}, ${look.colorScheme}`, async () => {
      await visit(
        site,
        "#/operators",
        async (one) => {
          await field(one).fill(template("first"));
          await kept(one);
          const other = await tab();
          await other.setViewportSize(look);
          await other.emulateMedia({ colorScheme: look.colorScheme });
          await elsewhere(other).waitFor();
          await other.screenshot({ path: join(screenshots, `tabs-${look.size}-${look.colorScheme}.png`) });
          assert.deepEqual(await findings(other), []);
          await fitsAcross(other);
          await other.close();
        },
        look,
      );
    });
  }
});
