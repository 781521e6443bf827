// Search within each view, and the buttons that open files: what they open is listed like dropped files.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { inLooks } from "./axe.mjs";
import { drop, eventually, start, visit } from "./harness.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));

let site;
before(async () => {
  site = await start();
});
after(() => site.stop());

const search = (page, label) => page.getByRole("searchbox", { name: label });
const found = (page) => page.locator("[data-found]").textContent();

describe("search within a view", () => {
  it("Sessions: goes to the commits that contain a text", async () => {
    await visit(site, "#/commits", async (page) => {
      const commits = page.locator("[data-commit]");
      await commits.first().waitFor();
      const lines = Array.from({ length: 200 }, (_, at) =>
        JSON.stringify({ role: at % 2 ? "assistant" : "user", content: `Turn ${at} ${at % 50 === 7 ? "Needle" : ""}` }),
      );
      await drop(page, "long.jsonl", lines.join("\n"));
      await page.locator(".about").getByText("100 commits").waitFor();
      const field = search(page, "Search the session");
      await field.fill("needle");
      await eventually(async () => assert.equal(await found(page), "4 found"));
      const selected = page.locator('[data-commit][aria-selected="true"]');
      await field.press("Enter");
      await eventually(async () => assert.match(await selected.textContent(), /Turn 6/));
      assert.equal(await found(page), "1 of 4");
      await field.press("Shift+Enter");
      await eventually(async () => assert.match(await selected.textContent(), /Turn 156/));
      await page.getByRole("button", { name: "Next match" }).click();
      await eventually(async () => assert.match(await selected.textContent(), /Turn 6/));
      await field.fill("no such words");
      await eventually(async () => assert.equal(await found(page), "No match"));
    });
  });

  it("Agent files: filters folders by name and by the text of their files", async () => {
    await visit(site, "#/folders", async (page) => {
      const folders = page.locator("[data-folder]");
      await folders.first().waitFor();
      const all = await folders.count();
      await search(page, "Search folders and files").fill("one migration, one file");
      await eventually(async () => {
        const left = await folders.evaluateAll((list) => list.map((one) => one.dataset.folder));
        assert.deepEqual(left, ["Projects/parachute/base/db"]);
      });
      await search(page, "Search folders and files").fill("");
      await eventually(async () => assert.equal(await folders.count(), all));
    });
  });

  it("Tokens: goes to the places of a text, also in another part of a large one", async () => {
    await visit(site, "#/tokens", async (page) => {
      await page.locator(".tok").first().waitFor();
      const words = "wool and warp\n".repeat(20_000);
      await drop(page, "long.txt", `${words}A (needle).\n${words}A Needle again.\n`);
      await eventually(async () =>
        assert.match(await page.locator('[data-figure="characters"]').textContent(), /^560,0/),
      );
      await search(page, "Search the text").fill("(needle");
      await eventually(async () => assert.equal(await found(page), "1 found"));
      await search(page, "Search the text").fill("needle");
      await eventually(async () => assert.equal(await found(page), "2 found"));
      await page.getByRole("button", { name: "Previous match" }).click();
      await eventually(async () => assert.equal(await found(page), "2 of 2"));
      await eventually(async () => assert.equal(await page.locator(".tok.found").first().isVisible(), true));
      assert.match(await page.locator(".tok.found").first().textContent(), /Need/);
      assert.match(await page.locator(".text-parts output").textContent(), /^Part 12 of 12$/);
      await inLooks(page, "search-tokens");
    });
  });

  it("Task templates: filters the operators", async () => {
    await visit(site, "#/operators", async (page) => {
      const operators = page.locator("[data-operator]");
      await operators.first().waitFor();
      const all = await operators.count();
      const words = await operators.last().locator(".operator-about").textContent();
      await search(page, "Search the operators").fill(words.toUpperCase());
      await eventually(async () => {
        const left = await operators.count();
        assert.ok(left > 0 && left < all, `${left} of ${all}`);
      });
      await search(page, "Search the operators").fill("no such words");
      await page.getByText("No operator matches.").waitFor();
    });
  });

  it("Workspace: goes to the places of its files", async () => {
    await visit(site, "#/workspace", async (page) => {
      const field = search(page, "Search the files");
      await field.waitFor();
      await page.getByRole("tab", { name: "Notes", exact: true }).click();
      const notes = page.getByLabel("notes.md", { exact: true });
      const lines = Array.from({ length: 600 }, (_, at) => (at === 2 || at === 499 ? `${at} NEEDLE` : `${at} wool`));
      await notes.fill(lines.join("\n"));
      await page.getByRole("tab", { name: "Brief", exact: true }).click();
      await field.fill("needle");
      await eventually(async () => assert.equal(await found(page), "2 found"));
      const mark = page.locator(".code-text mark");
      for (const line of [2, 499, 2]) {
        await field.press("Enter");
        await eventually(async () => {
          const before = await mark.evaluate((e) => e.previousSibling.textContent.split("\n").length - 1);
          assert.equal(before, line);
          assert.equal(await mark.textContent(), "NEEDLE");
          // In sight: the frame scrolled to it.
          const [at, frame] = [await mark.boundingBox(), await page.locator(".code-frame").boundingBox()];
          assert.ok(at.y >= frame.y && at.y + at.height <= frame.y + frame.height, `${at.y} in ${frame.y}`);
        });
      }
      assert.equal(await notes.inputValue(), lines.join("\n"));
      await inLooks(page, "search-workspace");
    });
  });
});

describe("a button that opens a file", () => {
  it("lists several, and one click opens each", async () => {
    await visit(site, "#/chats", async (page) => {
      await page.locator("#chat-file").setInputFiles([
        { name: "a.json", mimeType: "application/json", buffer: Buffer.from('[{"role":"user","content":"First"}]') },
        { name: "b.json", mimeType: "application/json", buffer: Buffer.from('[{"role":"user","content":"Second"}]') },
      ]);
      const items = page.getByRole("region", { name: "Dropped items" }).getByRole("button");
      await eventually(async () => assert.equal(await items.count(), 2));
      await items.last().click();
      await eventually(async () => assert.match(await page.getByLabel("Chat messages, JSON").inputValue(), /Second/));
    });
  });

  it("opens a file that its view cannot show in the view of its kind", async () => {
    await visit(site, "#/chats", async (page) => {
      await page.locator("#chat-file").setInputFiles({
        name: "task.xml",
        mimeType: "text/xml",
        buffer: Buffer.from('<task type="atomic"><description>Words</description></task>'),
      });
      await page.getByText("looks like a task template").waitFor();
      await eventually(async () =>
        assert.match(await page.getByLabel("Task template, XML").inputValue(), /<description>Words/),
      );
    });
  });

  it("keeps a file of several kinds in its view", async () => {
    await visit(site, "#/tokens", async (page) => {
      const content = await readFile(join(root, "examples", "trees", "story.json"), "utf8");
      await page
        .locator("#text-file")
        .setInputFiles({ name: "story.json", mimeType: "application/json", buffer: Buffer.from(content) });
      await eventually(async () =>
        assert.equal(
          await page.locator('[data-figure="characters"]').textContent(),
          content.length.toLocaleString("en"),
        ),
      );
      assert.match(page.url(), /#\/tokens/);
    });
  });
});
