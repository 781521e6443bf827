// The Folders view in a real browser, compared with the package's results for the same vault in Node.

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { bubble, buildContextChain, discoverContextFolders, init, renderContextPrompt } from "ctxweave";
import { choose, eventually, fitsAcross, number, openNothing, screenshots, start, visit } from "./harness.mjs";

const vaultDir = fileURLToPath(new URL("../../examples/vault", import.meta.url));

let site;
let files;
before(async () => {
  await init();
  const entries = await readdir(vaultDir, { recursive: true, withFileTypes: true });
  const paths = entries.filter(({ name }) => /^(AGENTS|CLAUDE)\.md$/.test(name));
  files = await Promise.all(
    paths.map(async ({ parentPath, name }) => ({
      path: relative(vaultDir, join(parentPath, name)).replaceAll("\\", "/"),
      content: await readFile(join(parentPath, name)),
    })),
  );
  site = await start();
});
after(() => site.stop());

const on = (hash, steps, options) => visit(site, hash, steps, options);

const prompt = (page) => page.locator("[data-prompt]").textContent();

/** Asserts that the page shows the package's result for this request. */
async function shows(page, request) {
  const chain = buildContextChain({ files, ...request });
  await eventually(async () => assert.equal(await prompt(page), renderContextPrompt(chain)));
  await eventually(async () =>
    assert.equal(number((await page.locator("[data-total]").textContent()).replace(/ tokens?/, "")), chain.totalTokens),
  );
  return chain;
}

const folder = (page, path) => page.locator(`[data-folder="${path}"]`);

describe("the sample vault", () => {
  it("shows every folder with a context file, and the prompt of the selected ones", async () => {
    await on("#/folders", async (page) => {
      const all = discoverContextFolders(files.map(({ path }) => path)).folders;
      await eventually(async () => assert.equal(await page.locator("[data-folder]").count(), all.length));
      const selected = ["Projects/parachute/chat/ui", "Areas/taiji"];
      await shows(page, { selected });
      await folder(page, "Areas/taiji").uncheck();
      await folder(page, "Projects/[draft] novel").check();
      await shows(page, { selected: ["Projects/parachute/chat/ui", "Projects/[draft] novel"] });
    });
  });

  it("loads watched files, all ancestors, or only the selection", async () => {
    await on("#/folders?select=Projects%2Fparachute%2Fchat%2Fui", async (page) => {
      const selected = ["Projects/parachute/chat/ui"];
      await shows(page, { selected });
      await choose(page.getByRole("radio", { name: "All watched" }));
      await shows(page, { selected, includeWatched: "all" });
      await choose(page.getByRole("radio", { name: "None" }));
      await shows(page, { selected, includeWatched: "none" });
      await page.getByLabel("Always add all ancestors").check();
      const chain = await shows(page, { selected, includeWatched: "none", parentChain: true });
      await page.getByRole("tab", { name: /Chain/ }).click();
      const rows = await page.locator("[data-chain]").evaluateAll((all) => all.map((row) => row.dataset.chain));
      assert.deepEqual(
        rows,
        chain.files.map(({ path }) => path),
      );
    });
  });

  it("cuts and omits files under a budget, and reports it", async () => {
    await on("#/folders?select=&select=Projects%2Fparachute&parents=1", async (page) => {
      const selected = ["", "Projects/parachute"];
      await page.getByLabel("Maximum tokens").fill("150");
      const chain = await shows(page, { selected, parentChain: true, maxTokens: 150 });
      assert.ok(
        chain.files.some(({ truncated }) => truncated) && chain.omitted.length > 0,
        "the sample is large enough",
      );
      await eventually(async () =>
        assert.match(
          await page.locator("[data-omitted]").textContent(),
          new RegExp(`^${chain.omitted.length} files? omitted`),
        ),
      );
      assert.match(page.url(), /max=150/);
      await page.reload();
      await shows(page, { selected, parentChain: true, maxTokens: 150 });
    });
  });

  it("lists the watchers to notify when a file changes", async () => {
    const path = "Projects/parachute/base/db/CLAUDE.md";
    await on("#/folders", async (page) => {
      await page.getByLabel("Search folders and files").fill("base/db");
      await page.locator(`[data-file="${path}"]`).click();
      const told = async () => page.locator("[data-told]").evaluateAll((all) => all.map((one) => one.dataset.told));
      const expected = bubble([path], files).map((one) => one.path);
      assert.ok(expected.length > 0);
      await eventually(async () => assert.deepEqual(await told(), expected));
      await page.getByLabel(path, { exact: true }).fill("---\nwatch: ../\n---\n# Changed\n\n- New fact\n");
      await page.getByRole("heading", { name: "Notified of this change" }).waitFor();
      await page.getByLabel("Search folders and files").fill("");
      await eventually(async () => assert.equal(await page.locator(".tag.notified").count(), expected.length));
      await folder(page, "Projects/parachute/base/db").check();
      await eventually(async () => assert.match(await prompt(page), /# Changed\n\n- New fact/));
      await page.getByRole("button", { name: "Revert changes" }).click();
      await eventually(async () => assert.match(await prompt(page), /One migration, one file/));
    });
  });

  it("reports errors in a file", async () => {
    await on("#/folders?select=Odd%2Fbad-yaml&select=Odd%2Flatin-1&select=Odd%2Fdelimiters", async (page) => {
      await page.getByRole("tab", { name: /^Chain/ }).click();
      const found = page.locator(".result-pane [data-finding]");
      const codes = await found.evaluateAll((all) => all.map((one) => one.dataset.finding));
      assert.deepEqual(codes, ["front_matter_invalid", "invalid_utf8", "prompt_delimiter_in_file"]);
    });
  });
});

describe("a folder from the disk", () => {
  it("opens by a field if the browser has no picker", async () => {
    await on("#/folders", async (page) => {
      await page.evaluate(() => {
        globalThis.showDirectoryPicker = undefined;
      });
      const chooser = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: "Open a folder…" }).click();
      await (await chooser).setFiles(join(vaultDir, "Areas"));
      const below = files
        .filter(({ path }) => path.startsWith("Areas/"))
        .map(({ path, content }) => ({ path: path.slice("Areas/".length), content }));
      await page.getByText(`${below.length} context files`).waitFor();
      await folder(page, "taiji").check();
      const chain = buildContextChain({ files: below, selected: ["", "taiji"] });
      await eventually(async () => assert.equal(await prompt(page), renderContextPrompt(chain)));
    });
  });

  it("opens by the picker if the browser has one", async () => {
    await on("#/folders", async (page) => {
      await page.evaluate(() => {
        const file = (name, text) => ({ kind: "file", name, getFile: async () => new File([text], name) });
        const dir = (name, entries) => ({
          kind: "directory",
          name,
          async *values() {
            yield* entries;
          },
        });
        globalThis.showDirectoryPicker = async () =>
          dir("Mine", [
            file("AGENTS.md", "# Mine\n"),
            file("notes.md", "no"),
            dir("node_modules", [file("AGENTS.md", "nobody's")]),
            dir("a", [file("CLAUDE.md", "---\nwatch: ../\n---\n# A\n")]),
          ]);
      });
      await page.getByRole("button", { name: "Open a folder…" }).click();
      await page.getByText("2 context files").waitFor();
      await folder(page, "a").check();
      await eventually(async () =>
        assert.match(await prompt(page), /### Root Context \(AGENTS\.md\)\n# Mine\n\n### A Context/),
      );
    });
  });

  it("opens when dropped from a file manager", async () => {
    await on("#/folders", async (page) => {
      const debug = await page.context().newCDPSession(page);
      const { x, y } = await page.locator(".result-pane").boundingBox();
      const data = { items: [], files: [join(vaultDir, "Areas")], dragOperationsMask: 1 };
      for (const type of ["dragEnter", "dragOver"]) {
        await debug.send("Input.dispatchDragEvent", { type, x: x + 20, y: y + 20, data });
      }
      await page.getByText("Drop a folder or its files to open them").waitFor();
      await debug.send("Input.dispatchDragEvent", { type: "drop", x: x + 20, y: y + 20, data });
      const below = files.filter(({ path }) => path.startsWith("Areas/"));
      await page.getByText(`${below.length} context files`).waitFor();
      await page.locator(".source strong").getByText("Areas", { exact: true }).waitFor();
      await folder(page, "taiji").check();
      const mine = below.map(({ path, content }) => ({ path: path.slice("Areas/".length), content }));
      const chain = buildContextChain({ files: mine, selected: ["", "taiji"] });
      await eventually(async () => assert.equal(await prompt(page), renderContextPrompt(chain)));
    });
  });

  it("reports an empty folder, and keeps the open one", async () => {
    await on("#/folders", async (page) => {
      await openNothing(page);
      await eventually(async () => assert.ok((await page.locator("[data-folder]").count()) >= 60));
    });
  });
});

describe("looks", () => {
  for (const [name, options] of [
    ["light", {}],
    ["dark", { colorScheme: "dark" }],
    ["narrow", { width: 390, height: 844 }],
  ]) {
    it(name, async () => {
      await on(
        "#/folders?select=&select=Projects%2Fparachute&select=Areas%2Ftaiji&max=400",
        async (page) => {
          if (name === "narrow") await choose(page.getByRole("radio", { name: "Prompt" }));
          await page.locator("[data-prompt]").waitFor();
          await page.screenshot({ path: join(screenshots, `folders-${name}.png`) });
          await fitsAcross(page);
        },
        options,
      );
    });
  }
});
