// The Commits view in a real browser: a session is imported, shown as a timeline, forked, converted and saved.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { CommitGraph, importTranscript, init, transcriptToMessages } from "ctxweave/commits";
import { findings } from "./axe.mjs";
import {
  LOOKS,
  agreeing,
  drop,
  eventually,
  fitsAcross,
  openPage,
  ownLink,
  savedText,
  screenshots,
  showPane,
  start,
  visit,
} from "./harness.mjs";

const sample = fileURLToPath(new URL("../../examples/sessions/claude-code.jsonl", import.meta.url));

let site;
let imported;
let graph;
let blobs;
before(async () => {
  await init();
  site = await start();
  imported = importTranscript("claude-code-v1", await readFile(sample), {
    createdAt: new Date(0).toISOString(),
    principal: "page",
  });
  graph = new CommitGraph();
  for (const record of imported.records) graph.checkpoint(record);
  blobs = new Map(imported.blobs.map(({ artifactRef, bytes }) => [artifactRef, bytes]));
});
after(() => site.stop());

const on = (steps, options) =>
  visit(
    site,
    "#/commits",
    async (page) => {
      await agreeing(page);
      await page.locator("[data-commit]").first().waitFor();
      await steps(page);
    },
    options,
  );

const commit = (page, id) => page.locator(`[data-commit="${id}"]`);
const tab = (page, name) => page.getByRole("tab", { name, exact: true });

/** The bytes materialized by the page. */
async function shownBytes(page) {
  await tab(page, "Bytes").click();
  return page.locator("pre.bytes").textContent();
}

/** The bytes materialized in Node. */
const expected = (request) => new TextDecoder().decode(graph.materialize(request, blobs).bytes);

describe("commits", () => {
  it("opens the sample: draws every commit, and materializes the newest", async () => {
    await on(async (page) => {
      const drawn = await page.locator("[data-commit]").evaluateAll((all) => all.map((e) => e.dataset.commit));
      assert.deepEqual(drawn.sort(), imported.records.map(({ id }) => id).sort());
      await page.getByRole("button", { name: "Sample" }).click();
      await page.locator(`[data-commit="${imported.tip}"][aria-selected="true"]`).waitFor();
      await page.locator('[data-tier="native"]').waitFor();
      const shown = await page.locator(".said [data-role]").count();
      await eventually(async () => {
        assert.match(await page.locator("[data-tier]").textContent(), new RegExp(`^${shown} messages`));
        assert.equal(await shownBytes(page), expected({ commit: imported.tip }));
      });
      await page.screenshot({ path: join(screenshots, "commits-bytes.png") });
    });
  });

  it("lists the materialized commits with the reason, for each stop", async () => {
    await on(async (page) => {
      await commit(page, imported.tip).click();
      const between = graph.history(imported.tip).at(-2).id;
      for (const stop of ["root", "compaction", between]) {
        await page.getByLabel("Back to").selectOption(stop);
        const { steps } = graph.planMaterialization({ commit: imported.tip, stop });
        await tab(page, "Why").click();
        await page.locator(`[data-step="${steps[0].id}"]`).waitFor();
        const shown = await page
          .locator("[data-step]")
          .evaluateAll((all) => all.map((e) => [e.dataset.step, e.dataset.included === "true"]));
        assert.deepEqual(
          shown,
          steps.map(({ id, included }) => [id, included]),
        );
        await eventually(async () => assert.equal(await shownBytes(page), expected({ commit: imported.tip, stop })));
      }
    });
  });

  it("converts to another agent's format, turn by turn or as a narrative, and saves a file that the agent finds", async () => {
    await on(async (page) => {
      for (const [format, name] of [
        ["codex-v1", /^rollout-2026-03-02T09-00-[0-9]{2}-[-0-9a-f]{36}\.jsonl$/],
        ["gemini-v1", /^session-[-0-9a-f]{36}\.jsonl$/],
        ["generic-v1", /^ctx-[0-9a-f]{16}\.jsonl$/],
      ]) {
        await page.getByLabel("As", { exact: true }).selectOption(format);
        for (const [crossFamily, tier] of [
          ["transcode", "transcode"],
          ["render", "rendering"],
        ]) {
          await page.getByLabel("From another agent").selectOption(crossFamily);
          await page.locator(`[data-tier="${tier}"]`).waitFor();
          const bytes = expected({ commit: imported.tip, format, crossFamily });
          await eventually(async () => assert.equal(await shownBytes(page), bytes));
          const [saved] = await Promise.all([
            page.waitForEvent("download"),
            page.getByRole("button", { name: "Save as a file" }).click(),
          ]);
          assert.equal(await savedText(saved), bytes);
          assert.match(saved.suggestedFilename(), name);
        }
      }
    });
  });

  it("resumes from any commit as a file of the same agent", async () => {
    await on(async (page) => {
      const from = imported.records[2].id;
      await commit(page, from).click();
      await page.getByText("claude --resume 7d1f6c2e-90a4-4d8e-a1f3-5b2c60c8e001").waitFor();
      const [saved] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Save as a file" }).click(),
      ]);
      assert.equal(saved.suggestedFilename(), "7d1f6c2e-90a4-4d8e-a1f3-5b2c60c8e001.jsonl");
      assert.equal(await savedText(saved), expected({ commit: from }));
    });
  });

  it("shows first words, tools, tokens, compactions and branches", async () => {
    await on(async (page) => {
      for (const { id, commit_type, artifact_ref, format, token_count } of imported.records) {
        const row = commit(page, id);
        const text = await row.textContent();
        assert.match(text, new RegExp(`${token_count} token`), id);
        if (commit_type === "compaction") assert.match(text, /^Compaction/);
        const { messages } = transcriptToMessages(format, blobs.get(artifact_ref));
        for (const { content } of messages) {
          for (const part of Array.isArray(content) ? content : []) {
            if (part.type === "toolCall") assert.match(text, new RegExp(part.name), id);
          }
        }
      }
      await page.getByText("The invoice total is off by a cent. Here is what the customer sees:").first().waitFor();
      const branch = imported.branches.find(({ sideChain }) => !sideChain);
      await eventually(async () =>
        assert.match(await commit(page, branch.tip).textContent(), /^BranchYes, all of them\./),
      );
      const agent = imported.branches.find(({ sideChain }) => sideChain);
      await eventually(async () => {
        assert.match(await commit(page, agent.tip).textContent(), /^Another agentFind every place/);
        assert.match(await page.getByLabel("Back to").textContent(), /Use decimals instead/);
      });
    });
  });

  it("arrow keys choose a commit, which is announced", async () => {
    await on(async (page) => {
      const list = page.getByRole("listbox");
      await list.focus();
      await page.keyboard.press("Home");
      await page.locator(`[data-commit="${imported.records[0].id}"][aria-selected="true"]`).waitFor();
      const [, next] = await page.locator("[data-commit]").evaluateAll((rows) => rows.map((row) => row.dataset.commit));
      await page.keyboard.press("ArrowDown");
      await page.locator(`[data-commit="${next}"][aria-selected="true"]`).waitFor();
      const active = await list.getAttribute("aria-activedescendant");
      await eventually(async () => assert.equal(await page.locator(`#${active}`).getAttribute("data-commit"), next));
      await page.keyboard.press("End");
      await page.locator('[data-commit][aria-selected="true"]').last().waitFor();
    });
  });

  it("forks, materializes the fork, restores it after a reload, and undoes it", async () => {
    await on(async (page) => {
      const from = imported.records[1].id;
      await commit(page, from).click();
      await page.getByLabel("Continue from here with").fill("What if it were the other way round?");
      await page.getByRole("button", { name: "Fork" }).click();
      const made = page.locator('[data-commit][aria-selected="true"]').filter({ hasText: "What if" });
      await made.waitFor();
      const id = await made.getAttribute("data-commit");
      const bytes = await shownBytes(page);
      const before = expected({ commit: from });
      assert.ok(bytes.startsWith(before), "a fork is the prefix and its new message");
      assert.match(bytes.slice(before.length), /What if it were the other way round\?/);
      await tab(page, "Conversation").click();
      await page.locator(".said").getByText("What if it were the other way round?").waitFor();
      await page.getByText("Kept in this browser").waitFor();
      await page.reload();
      await commit(page, id).click();
      await eventually(async () =>
        assert.equal(await shownBytes(page), bytes, "the session is in the browser's database"),
      );
      await page.getByRole("button", { name: "Sample" }).click();
      // Any later action may replace it.
      await tab(page, "Why").click();
      await eventually(async () => assert.equal(await commit(page, id).count(), 0));
      await page.getByRole("button", { name: "Undo" }).click();
      await commit(page, id).waitFor();
    });
  });

  it("a link carries the session, the added messages, and the chosen commit", async () => {
    let link;
    let bytes;
    await on(async (page) => {
      await commit(page, imported.records[3].id).click();
      await page.getByLabel("Continue from here with").fill("Once more, with feeling");
      await page.getByRole("button", { name: "Fork" }).click();
      await page.locator('[data-commit][aria-selected="true"]').filter({ hasText: "Once more" }).waitFor();
      await page.getByLabel("As", { exact: true }).selectOption("codex-v1");
      await page.locator('[data-tier="transcode"]').waitFor();
      bytes = await shownBytes(page);
      link = await ownLink(page);
      assert.ok(link.length < 30_000, `${link.length}`);
    });
    const { page, close } = await openPage(site, link.slice(link.indexOf("#")));
    await page.locator('[data-commit][aria-selected="true"]').filter({ hasText: "Once more" }).waitFor();
    await eventually(async () => assert.equal(await shownBytes(page), bytes));
    assert.ok(!page.url().includes("own="));
    await close();
  });

  it("a long session is a windowed timeline that draws no more than a short one", async () => {
    await on(async (page) => {
      const lines = Array.from({ length: 6000 }, (_, at) =>
        JSON.stringify({ role: at % 2 ? "assistant" : "user", content: `Turn ${at}: ${"words ".repeat(20)}` }),
      );
      await drop(page, "long.jsonl", lines.join("\n"));
      await page.locator(".about").getByText("3,000 commits").waitFor();
      await eventually(async () =>
        assert.ok((await page.locator("[data-commit]").count()) < 60, "only visible rows are rendered"),
      );
      // The newest is chosen and visible.
      await page.locator('[data-commit][aria-selected="true"]').getByText("Turn 5998").waitFor();
      await page.getByRole("listbox").focus();
      await page.keyboard.press("ArrowUp");
      await page.locator('[data-commit][aria-selected="true"]').getByText("Turn 5996").waitFor();
      assert.ok((await page.locator("[data-commit]").count()) < 60, "a step renders no more rows");
      await page.keyboard.press("Home");
      await page.locator('[data-commit][aria-selected="true"]').getByText("Turn 0").waitFor();
      await page.screenshot({ path: join(screenshots, "commits-long.png") });
    });
  });

  it("restores the last session after a reload, whatever its name", async () => {
    await on(async (page) => {
      await page.locator("#session-file").setInputFiles(join(dirname(sample), "generic.jsonl"));
      const name = page.locator(".about strong");
      await name.getByText("generic.jsonl").waitFor();
      await page.getByRole("button", { name: "Sample" }).click();
      await name.getByText("claude-code.jsonl").waitFor();
      await page.reload();
      await name.getByText("claude-code.jsonl").waitFor();
      await eventually(async () =>
        assert.deepEqual(
          (await page.locator("[data-commit]").evaluateAll((all) => all.map((e) => e.dataset.commit))).sort(),
          imported.records.map(({ id }) => id).sort(),
        ),
      );
    });
  });

  it("opens a file, and reports one that is not a session", async () => {
    await on(async (page) => {
      const lines = ["hello", "hi"].map((content, at) => JSON.stringify({ role: at ? "assistant" : "user", content }));
      const file = { mimeType: "application/jsonl", buffer: Buffer.from(lines.join("\n")) };
      await page.locator("#session-file").setInputFiles({ name: "own.jsonl", ...file });
      await page.getByText("own.jsonl").waitFor();
      await page.locator(".said").getByText("hello").waitFor();
      await page
        .locator("#session-file")
        .setInputFiles({ ...file, name: "none.jsonl", buffer: Buffer.from("no session") });
      await page.getByRole("alert").waitFor();
      await eventually(async () =>
        assert.ok((await page.locator("[data-commit]").count()) > 0, "the previous session is still open"),
      );
    });
  });

  it("detects the format of each sample session", async () => {
    await on(async (page) => {
      for (const [file, format] of Object.entries({
        "claude-code.jsonl": "claude-code-v1",
        "codex-v0.jsonl": "codex-v0",
        "codex-v1.jsonl": "codex-v1",
        "gemini-lines.jsonl": "gemini-v1",
        "gemini-object.json": "gemini-v1",
        "generic.jsonl": "generic-v1",
        "bureau-agent.cbor": "bureau-agent-v1",
      })) {
        await page.locator("#session-file").setInputFiles(join(dirname(sample), file));
        await page.locator(".about strong").getByText(file, { exact: true }).waitFor();
        await page.locator(".chosen dd").getByText(format, { exact: true }).waitFor({ state: "attached" });
        await page.locator(".said [data-role]").first().waitFor();
        await eventually(async () => assert.equal(await page.getByRole("alert").count(), 0, file));
      }
    });
  });

  for (const { size: name, width, height, colorScheme } of LOOKS) {
    it(`looks right: ${name}, ${colorScheme}`, async () => {
      await on(
        async (page) => {
          // On a small screen one pane is shown at a time.
          for (const pane of width < 400 ? ["Session", "Result"] : [""]) {
            if (pane) await showPane(page, pane);
            await fitsAcross(page);
            const file = `commits-${name}-${colorScheme}${pane && `-${pane.toLowerCase()}`}.png`;
            await page.screenshot({ path: join(screenshots, file) });
            assert.deepEqual(await findings(page), []);
          }
        },
        { width, height, colorScheme },
      );
    });
  }
});
