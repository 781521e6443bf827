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

  it("Sessions: searches the texts, not the records of the file", async () => {
    await visit(site, "#/commits", async (page) => {
      await page.locator("[data-commit]").first().waitFor();
      const field = search(page, "Search the session");
      const finds = async (query, many) => {
        await field.fill(query);
        await eventually(async () => assert.equal(await found(page), many === 0 ? "No match" : `${many} found`), 5000);
      };
      const line = (role, content) => JSON.stringify({ role, content });
      const lines = [
        line("user", 'Who said "wool"?'),
        line("assistant", [{ type: "toolCall", id: "t1", name: "look_up", arguments: { path: "flock/ewes.md" } }]),
        line("user", [{ type: "toolResult", toolCallId: "t1", content: "The shepherd said it." }]),
        line("assistant", "It was Zoë.").replace("ë", "\\u00eb"),
      ];
      await drop(page, "short.jsonl", lines.join("\n"));
      await page.locator(".about strong").getByText("short.jsonl").waitFor();
      for (const key of ["user", "content", "toolCallId"]) await finds(key, 0);
      for (const text of ['"wool"', "ewes.md", "look_up", "shepherd", "Zoë"]) await finds(text, 1);
      await page.locator("#session-file").setInputFiles(join(root, "examples", "sessions", "bureau-agent.cbor"));
      await page.getByRole("button", { name: "Replace it" }).click();
      await page.locator(".about strong").getByText("bureau-agent.cbor").waitFor();
      await finds("what is the total?", 1);
      await finds("dRole", 0);
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

  it("Tokens: the shown match is that of the words, also after an edit, and each is in sight", async () => {
    await visit(site, "#/tokens", async (page) => {
      await page.locator(".tok").first().waitFor();
      const line = "wool and warp and weft. ".repeat(30);
      const needles = [0, 40, 80];
      const text = Array.from({ length: 100 }, (_, at) => (needles.includes(at) ? `needle ${line}` : line)).join("");
      const field = page.getByRole("textbox", { name: "Text" });
      await field.fill(text);
      const words = search(page, "Search the text");
      const mark = page.locator(".tok.found");
      await words.fill("needle");
      await eventually(async () => assert.equal(await found(page), "3 found"));
      for (const match of [1, 2, 3, 1, 1]) {
        // All of the text is one line, in few blocks. A match is in sight again if the user scrolled away.
        await page.locator(".token-text").evaluate((list) => (list.scrollTop = list.scrollHeight / 3));
        if (match === 1) await words.fill("needle");
        await words.press("Enter");
        await eventually(async () => {
          assert.equal(await found(page), `${match} of 3`);
          const [at, list] = [await mark.first().boundingBox(), await page.locator(".token-text").boundingBox()];
          assert.ok(at.y >= list.y - 1 && at.y + at.height <= list.y + list.height + 1, `${at.y} in ${list.y}`);
        });
      }
      await words.press("Shift+Enter");
      await eventually(async () => assert.equal(await found(page), "3 of 3"));
      await field.fill(text.replaceAll("needle w", "W").replace("W", "needle w"));
      await eventually(async () => assert.equal(await found(page), "1 found"));
      await eventually(async () => assert.equal(await mark.count(), 0));
      await words.press("Enter");
      await eventually(async () => assert.equal(await found(page), "1 of 1"));
      await mark.first().waitFor();
      await words.fill("");
      await eventually(async () => assert.equal(await mark.count(), 0));
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
      // The field stays with a template of one operator: its words still filter.
      await page.getByLabel("Task template, XML").fill('<task type="atomic"><description>Alone</description></task>');
      await page.getByText("No operator matches.").waitFor();
      await search(page, "Search the operators").fill("");
      await eventually(async () => assert.equal(await operators.count(), 1));
      assert.equal(await search(page, "Search the operators").count(), 0);
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
