// The Loom view in a real browser, compared with the package's results for the same request in Node.

import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { assembleBuffer, assembleDialogue, countTokens, init } from "ctxweave";
import * as cl100k from "ctxweave/vocab/cl100k_base";
import * as o200k from "ctxweave/vocab/o200k_base";
import {
  choose,
  copied,
  eventually,
  expectedTotals,
  number,
  openPage,
  sample,
  shownTotals,
  showPrompt,
  start,
  visit,
} from "./harness.mjs";

/** The areas of the package with a module. */
const AREAS = ["chat", "commits", "folders", "import", "loom", "operators", "tokens", "workspace"];

let site;
before(async () => {
  await Promise.all([init(), o200k.load(), cl100k.load()]);
  site = await start();
});
after(() => site.stop());

const on = (hash, steps, options) => visit(site, hash, steps, options);

function failure(call) {
  try {
    call();
  } catch (error) {
    return error;
  }
  return assert.fail("no error was thrown");
}

const label = (page, name) => page.getByLabel(name, { exact: true });

/** The node whose text the page shows. */
const shows = (page, id) => page.locator(`.inspector[data-node-shown="${id}"]`).waitFor();

/** Every node shown in the prompt: those in it, and missing ones at their position. */
async function accounted(page) {
  const held = await page
    .locator("[data-segment]")
    .evaluateAll((all) => all.flatMap((e) => e.dataset.segment.split(" ").filter(Boolean)));
  const missing = await page.locator("[data-missing]").evaluateAll((all) => all.map((e) => e.dataset.missing));
  return { held, missing };
}

describe("samples", () => {
  const samples = [
    { name: "story", button: "Story", tip: "alice-108", contextWindow: 4096, mode: "buffer" },
    { name: "agent", button: "Agent", tip: "agent-36", contextWindow: 8192, mode: "dialogue" },
    { name: "sources", button: "Sources", tip: "q-12", contextWindow: 8192, mode: "dialogue" },
    {
      name: "lighthouse",
      button: "Lighthouse",
      tip: "01KNZ1KSR0X8FZ0SGS9TEEBYY1",
      contextWindow: 8192,
      mode: "dialogue",
    },
  ];
  for (const { name, button, tip, contextWindow, mode } of samples) {
    it(`${name}: opens, draws every node and shows the totals computed in Node`, async () => {
      const { tree, media } = await sample(name);
      const assemble = mode === "buffer" ? assembleBuffer : assembleDialogue;
      const { report } = assemble({ tree, tip, contextWindow, ...(media ? { media } : {}) });
      await on("#/loom", async (page) => {
        await choose(page.getByRole("radio", { name: button }));
        await eventually(async () => assert.equal(await page.locator('[role="treeitem"]').count(), tree.nodes.length));
        await eventually(async () => {
          assert.equal(await page.locator('[role="treeitem"][aria-selected="true"]').getAttribute("data-node"), tip);
          assert.deepEqual(await shownTotals(page), expectedTotals(report, contextWindow));
          assert.equal(number(await page.locator("[data-total]").textContent()), report.tokens.total);
        });
        // Each fate of the report is in the drawing.
        for (const fate of ["kept", "changed", "cut", "excluded", "skipped"]) {
          const ids = new Set(report.nodes.filter((row) => row.fate === fate).map((row) => row.nodeId));
          await eventually(async () =>
            assert.equal(await page.locator(`[role="treeitem"][data-fate="${fate}"]`).count(), ids.size, fate),
          );
        }
      });
    });
  }

  it("the messages equal Node's, split into their nodes, and nothing is unaccounted for", async () => {
    for (const [name, tip, contextWindow] of [
      ["agent", "agent-36", 8192],
      ["sources", "q-12", 60_000],
      ["story", "alice-108", 4096],
      ["lighthouse", "01KNZ1KSR0X8FZ0SGS9TEEBYY1", 8192],
    ]) {
      const { tree, media } = await sample(name);
      const { messages, report } = assembleDialogue({ tree, tip, contextWindow, ...(media ? { media } : {}) });
      await on(`#/loom?tree=${name}&tip=${tip}&mode=dialogue&window=${contextWindow}`, async (page) => {
        const shown = await page.locator("[data-message]").evaluateAll((all) =>
          all.map((message) => ({
            role: message.querySelector(".role").firstChild.textContent,
            nodeIds: [...message.querySelectorAll("[data-segment]")].flatMap((e) =>
              e.dataset.segment.split(" ").filter(Boolean),
            ),
            most: Math.max(
              0,
              ...[...message.querySelectorAll("[data-segment]")].map((e) => e.dataset.segment.split(" ").length),
            ),
          })),
        );
        assert.deepEqual(
          shown.map(({ role, nodeIds }) => ({ role, nodeIds })),
          messages.map(({ role, nodeIds }) => ({ role, nodeIds })),
        );
        assert.ok(
          shown.every(({ most }) => most <= 1),
          `${name}: each node of a merged message is separate`,
        );
        const { held, missing } = await accounted(page);
        const instructions = report.nodes
          .filter((row) => row.as === "instruction" && row.fate === "kept")
          .map((row) => row.nodeId);
        assert.deepEqual(
          [...new Set([...held, ...missing, ...instructions])].sort(),
          [...new Set(report.nodes.map((row) => row.nodeId))].sort(),
        );
        assert.deepEqual(
          [...missing].sort(),
          report.nodes
            .filter((row) => row.fate !== "kept" && row.message === undefined)
            .map((row) => row.nodeId)
            .sort(),
        );
        // The text on the page is the text of the messages.
        const texts = await page
          .locator("[data-message]")
          .evaluateAll((all) =>
            all.map((message) =>
              [...message.querySelectorAll(":scope .segment > .text")].map((e) => e.textContent).join("\n\n"),
            ),
          );
        messages.forEach((message, i) => {
          if (typeof message.content === "string")
            assert.equal(texts[i].replace(/\s+/gu, " "), message.content.replace(/\s+/gu, " "));
        });
      });
    }
  });

  it("the document equals Node's, character by character", async () => {
    const { tree } = await sample("story");
    for (const contextWindow of [2048, 4096, 100_000]) {
      const { document } = assembleBuffer({ tree, tip: "alice-108", contextWindow });
      await on(`#/loom?tree=story&window=${contextWindow}`, async (page) => {
        const shown = await page.locator(".document").evaluate((e) => {
          const copy = e.cloneNode(true);
          for (const extra of copy.querySelectorAll(".gap, .chip, .tag")) extra.remove();
          return copy.textContent;
        });
        assert.equal(shown, document);
      });
    }
  });

  it("tool calls, results, reasoning and images are shown by kind", async () => {
    const { tree, media } = await sample("agent");
    const { messages } = assembleDialogue({ tree, media, tip: "agent-36", contextWindow: 200_000 });
    const parts = messages.flatMap((m) => (typeof m.content === "string" ? [] : m.content));
    const of = (type) => parts.filter((part) => part.type === type).length;
    await on("#/loom?tree=agent&window=200000", async (page) => {
      await eventually(async () => {
        assert.equal(await page.locator(".tool-call").count(), of("toolCall"));
        assert.equal(await page.locator(".tool-result").count(), of("toolResult"));
        assert.equal(await page.locator(".reasoning").count(), of("reasoning"));
      });
      const loaded = await page.locator(".part.image img").evaluateAll((all) => all.map((img) => img.naturalWidth > 0));
      assert.ok(loaded.length > 0 && loaded.every(Boolean));
    });
  });
});

describe("budget and strategies", () => {
  it("the slider moves the cut, by keyboard and live", async () => {
    const { tree } = await sample("story");
    await on("#/loom?tree=story", async (page) => {
      const before = await shownTotals(page);
      const slider = page.getByRole("slider");
      await slider.focus();
      for (let i = 0; i < 20; i++) await page.keyboard.press("ArrowRight");
      const contextWindow = await eventually(async () => {
        const value = Number(await label(page, "Context window").inputValue());
        assert.ok(value > 4096);
        assert.deepEqual(
          await shownTotals(page),
          expectedTotals(assembleBuffer({ tree, tip: "alice-108", contextWindow: value }).report, value),
        );
        return value;
      });
      const after = await shownTotals(page);
      assert.ok(after.beyond < before.beyond && after.messages > before.messages, `at ${contextWindow} less is cut`);
      await page.keyboard.press("End");
      await eventually(async () => assert.equal((await shownTotals(page)).beyond, undefined));
    });
  });

  it("each strategy gives Node's result", async () => {
    const { tree, media } = await sample("agent");
    await on("#/loom?tree=agent&window=6000", async (page) => {
      for (const truncationStrategy of ["rollingWindow", "truncateMiddle"]) {
        await label(page, "Strategy").selectOption(truncationStrategy);
        const { report } = assembleDialogue({
          tree,
          media,
          tip: "agent-36",
          contextWindow: 6000,
          preferences: { truncationStrategy },
        });
        assert.ok(report.cut, "something is cut");
        await eventually(async () => assert.deepEqual(await shownTotals(page), expectedTotals(report, 6000)));
        await eventually(async () =>
          assert.equal(
            await page.locator('[role="treeitem"][data-fate="cut"]').count(),
            report.nodes.filter((row) => row.fate === "cut").length,
          ),
        );
      }
    });
  });

  it("stopAtLimit shows the error, with the cost of each node and a way to exclude it", async () => {
    const { tree, media } = await sample("agent");
    const request = {
      tree,
      media,
      tip: "agent-36",
      contextWindow: 6000,
      preferences: { truncationStrategy: "stopAtLimit" },
    };
    const error = failure(() => assembleDialogue(request));
    await on("#/loom?tree=agent&window=6000", async (page) => {
      await label(page, "Strategy").selectOption("stopAtLimit");
      const panel = page.getByRole("alert");
      await eventually(async () =>
        assert.equal(await panel.locator("[data-error-code]").textContent(), "context_too_long"),
      );
      assert.equal(error.code, "context_too_long");
      for (const key of ["limit", "required", "overBy"]) {
        await eventually(async () =>
          assert.equal(number(await panel.locator(`[data-figure="${key}"]`).textContent()), error.details[key], key),
        );
      }
      const costs = await panel
        .locator("[data-cost]")
        .evaluateAll((all) =>
          all.map((e) => [e.dataset.cost, Number(e.querySelector(".cost-number").textContent.replaceAll(",", ""))]),
        );
      const byId = ([a], [b]) => (a < b ? -1 : 1);
      assert.deepEqual(costs.sort(byId), error.details.nodes.map(({ nodeId, tokens }) => [nodeId, tokens]).sort(byId));
      await eventually(async () =>
        assert.deepEqual(await shownTotals(page), {
          over: error.details.limit,
          reserve: 6000 - error.details.limit,
          beyond: error.details.overBy,
        }),
      );

      // Excluding nodes, one click each, brings it under the limit.
      for (let i = 0; i < 60 && (await panel.count()) > 0; i++)
        await panel
          .getByRole("button", { name: /^Exclude/ })
          .first()
          .click();
      const sent = await copied(page, "Copy request");
      assert.ok(
        sent.tree.nodes.filter((node) => node.metadata?.excluded).length >
          tree.nodes.filter((node) => node.metadata?.excluded).length,
      );
      await showPrompt(page);
      await eventually(async () =>
        assert.deepEqual(await shownTotals(page), expectedTotals(assembleDialogue(sent).report, 6000)),
      );
    });
  });

  it("every other control reaches the request", async () => {
    await on("#/loom?tree=sources&tip=a-11", async (page) => {
      await label(page, "Token buffer").fill("300");
      await label(page, "Strategy").selectOption("truncateMiddle");
      await label(page, "Recent nodes kept").fill("3");
      await label(page, "Cut step").fill("128");
      await label(page, "Protect").selectOption("lastUser");
      await label(page, "Fill").selectOption("results");
      await label(page, "Marker").fill("(gone: {count})\\n");
      await label(page, "Annotations").selectOption("all");
      await label(page, "Provider").selectOption("openai");
      await label(page, "Instructions of").selectOption("path");
      await label(page, "Agent’s system prompt").fill("Be brief.");
      await label(page, "Context window").fill("5000");
      const { tree, media, ...rest } = await copied(page, "Copy request");
      assert.deepEqual({ tree, media }, await sample("sources"));
      assert.deepEqual(rest, {
        tip: "a-11",
        contextWindow: 5000,
        preferences: {
          tokenBuffer: 300,
          truncationStrategy: "truncateMiddle",
          minimumRecentNodes: 3,
          cutStep: 128,
          protect: ["lastUser"],
          fill: "results",
          truncationMarker: "(gone: {count})\n",
        },
        includeAnnotations: "all",
        target: { provider: "openai", model: "gpt-5" },
        instructionScope: "path",
        agent: { configuration: { systemPrompt: "Be brief." } },
      });
      const result = await copied(page, "Copy result");
      assert.deepEqual(result, JSON.parse(JSON.stringify(assembleDialogue({ tree, media, ...rest }))));
      // Settings can be reset.
      await page.getByRole("button", { name: "Reset: Token buffer" }).click();
      await eventually(async () => assert.equal(await label(page, "Token buffer").inputValue(), "1024"));
      await label(page, "Strategy").selectOption("rollingWindow");
      await label(page, "Start on").selectOption("user");
      assert.equal((await copied(page, "Copy request")).preferences.startOn, "user");
    });
  });

  it("reports an invalid budget", async () => {
    await on("#/loom?tree=agent", async (page) => {
      await label(page, "Context window").fill("100");
      await eventually(async () =>
        assert.equal(await page.locator("[data-error-code]").textContent(), "invalid_budget"),
      );
      await label(page, "Context window").fill("8192");
      await page.locator("[data-message]").first().waitFor();
    });
  });

  it("annotations can be included one by one", async () => {
    await on("#/loom?tree=story&window=100000", async (page) => {
      await label(page, "Annotations").selectOption("some");
      const box = page.getByRole("list", { name: "Annotations to include" }).getByRole("checkbox").first();
      await box.check();
      const request = await copied(page, "Copy request");
      assert.equal(request.includeAnnotations.length, 1);
      const row = assembleBuffer(request).report.nodes.find((r) => r.nodeId === request.includeAnnotations[0]);
      assert.equal(row.fate, "kept");
      await page.getByRole("tab", { name: /Report/ }).click();
      await eventually(async () =>
        assert.equal(await page.locator(`[data-row="${row.nodeId}"]`).getAttribute("data-fate"), "kept"),
      );
    });
  });
});

describe("exact counts", () => {
  const estimateShown = async (page) => number(await page.locator("[data-estimate]").textContent());

  it("the build contains the module of each area once, and each vocabulary once", async () => {
    const names = await readdir(site.outDir, { recursive: true });
    const of = (pattern) => names.flatMap((name) => pattern.exec(name)?.[1] ?? []).sort();
    assert.deepEqual(of(/([a-z]+)-[^/]*\.wasm$/), AREAS);
    assert.deepEqual(of(/([a-z0-9]+_base)-[^/]*\.bin$/), ["cl100k_base", "o200k_base", "p50k_base", "r50k_base"]);
  });

  it("each tokenizer gives Node's result with the same vocabulary, which is loaded on first use", async () => {
    const { tree, media } = await sample("agent");
    const request = { tree, media, tip: "agent-36", contextWindow: 8192 };
    await on("#/loom?tree=agent", async (page) => {
      const fetched = [];
      page.on("request", (sent) => {
        if (/_base.*\.bin$/.test(sent.url())) fetched.push(/(o200k|cl100k)_base/.exec(sent.url())[0]);
      });
      await page.reload();
      await page.locator(".result-pane").waitFor();
      const counted = async (tokenizer) => {
        await label(page, "Tokens").selectOption(tokenizer);
        const { report } = assembleDialogue({ ...request, ...(tokenizer ? { tokenizer } : {}) });
        await eventually(async () => assert.deepEqual(await shownTotals(page), expectedTotals(report, 8192)));
        await eventually(async () =>
          assert.equal(number(await page.locator("[data-total]").textContent()), report.tokens.total),
        );
        assert.equal(new URLSearchParams(page.url().split("?")[1]).get("tokens") ?? "", tokenizer);
        return report.tokens.total;
      };
      const estimated = await counted("");
      assert.deepEqual(fetched, [], "nothing is loaded before it is needed");
      assert.notEqual(await counted("o200k_base"), estimated);
      assert.deepEqual(fetched, ["o200k_base"]);
      await counted("cl100k_base");
      await counted("");
      await eventually(async () => assert.equal(await page.locator("[data-estimate]").count(), 0));
      await counted("o200k_base");
      assert.deepEqual(fetched, ["o200k_base", "cl100k_base"], "each only once");
      const sent = await copied(page, "Copy request");
      assert.equal(sent.tokenizer, "o200k_base");
      assert.deepEqual(await copied(page, "Copy result"), JSON.parse(JSON.stringify(assembleDialogue(sent))));
    });
  });

  it("shows the estimate for the same messages, and keeps it after a reload", async () => {
    // Without a cut both tokenizers give the same messages; they include calls, results and images.
    const { tree, media } = await sample("agent");
    const base = { tree, media, tip: "agent-36", contextWindow: 200_000 };
    const exact = assembleDialogue({ ...base, tokenizer: "o200k_base" }).report;
    const estimate = assembleDialogue(base).report;
    assert.ok(!exact.cut && !estimate.cut);
    const percent = (100 * (estimate.tokens.total - exact.tokens.total)) / exact.tokens.total;
    const written = (value) => value.toLocaleString("en");
    const expected = `${written(exact.tokens.total)} exact · estimate ${written(estimate.tokens.total)} (${percent > 0 ? "+" : ""}${percent.toFixed(1)} %)`;
    await on("#/loom?tree=agent&window=200000", async (page) => {
      await label(page, "Tokens").selectOption("o200k_base");
      const says = () =>
        eventually(async () =>
          assert.ok((await page.locator(".summary").textContent()).startsWith(expected), `not: ${expected}`),
        );
      await says();
      await page.reload();
      await says();
      await eventually(async () => assert.equal(await label(page, "Tokens").inputValue(), "o200k_base"));

      // With a cut it is still the estimate of the shown messages. The tokenizer is kept when the tree changes.
      await choose(page.getByRole("radio", { name: "Story" }));
      const { tree: story } = await sample("story");
      const { document, report } = assembleBuffer({
        tree: story,
        tip: "alice-108",
        contextWindow: 4096,
        tokenizer: "o200k_base",
      });
      assert.ok(report.cut);
      await eventually(async () => assert.deepEqual(await shownTotals(page), expectedTotals(report, 4096)));
      await eventually(async () =>
        assert.equal(await estimateShown(page), countTokens(document) + report.tokens.overhead),
      );
    });
  });

  it("uses and labels the estimate while a vocabulary loads or after it failed, and offers to try again", async () => {
    const { tree, media } = await sample("agent");
    const request = { tree, media, tip: "agent-36", contextWindow: 8192 };
    const estimate = expectedTotals(assembleDialogue(request).report, 8192);
    const exact = expectedTotals(assembleDialogue({ ...request, tokenizer: "cl100k_base" }).report, 8192);
    await on("#/loom?tree=agent", async (page) => {
      let answer;
      const held = new Promise((resolve) => (answer = resolve));
      const asset = /cl100k_base.*\.bin$/;
      await page.route(asset, async (route) => {
        await held;
        await route.fulfill({ contentType: "text/html", body: "<!doctype html><p>Not here" });
      });
      await label(page, "Tokens").selectOption("cl100k_base");
      await page.getByRole("progressbar", { name: "Loading cl100k_base" }).waitFor();
      await eventually(async () => {
        assert.match(await page.locator(".summary").textContent(), /estimate until cl100k_base is loaded/);
        assert.deepEqual(await shownTotals(page), estimate);
      });
      answer();
      await page.getByRole("alert").waitFor();
      await eventually(async () => {
        assert.match(
          await page.getByRole("alert").textContent(),
          /cl100k_base could not be loaded: an HTML page came from/,
        );
        assert.match(await page.locator(".summary").textContent(), /estimate, since cl100k_base could not be loaded/);
        assert.deepEqual(await shownTotals(page), estimate);
      });
      await page.unroute(asset);
      await page.getByRole("button", { name: "Try again" }).click();
      await eventually(async () => assert.deepEqual(await shownTotals(page), exact));
      await eventually(async () => assert.equal(await page.getByRole("alert").count(), 0));
    });
  });
});

describe("buffer mode", () => {
  it("the working buffer is part of the document while typing", async () => {
    const { tree } = await sample("story");
    await on("#/loom?tree=story", async (page) => {
      const workingBuffer = "And then — quite suddenly — 🐇";
      await label(page, "Working buffer").pressSequentially(workingBuffer);
      const result = assembleBuffer({ tree, tip: "alice-108", contextWindow: 4096, workingBuffer });
      await eventually(async () => assert.deepEqual(await shownTotals(page), expectedTotals(result.report, 4096)));
      const stretch = await page.locator(".stretch.working").evaluate((e) => e.lastChild.textContent);
      assert.equal(stretch, result.document.slice(result.workingBufferSpan.start, result.workingBufferSpan.end));
      await page.getByLabel("System context in the document’s request").check();
      const withSystem = assembleBuffer({
        tree: { ...tree, bufferModeSystemContext: true },
        tip: "alice-108",
        contextWindow: 4096,
        workingBuffer,
      });
      assert.ok(withSystem.system);
      await eventually(async () => assert.deepEqual(await shownTotals(page), expectedTotals(withSystem.report, 4096)));
      await eventually(async () =>
        assert.equal(await page.locator(".role-system .text").textContent(), withSystem.system),
      );
      await choose(page.getByRole("radio", { name: "Dialogue" }));
      await page.locator("[data-message]").first().waitFor();
    });
  });
});

describe("picking a tip", () => {
  it("by click", async () => {
    const { tree, media } = await sample("agent");
    await on("#/loom?tree=agent", async (page) => {
      await page.getByRole("button", { name: "Show the whole tree" }).click();
      await page.locator('[role="treeitem"][data-node="agent-12"]').click();
      const { report } = assembleDialogue({ tree, media, tip: "agent-12", contextWindow: 8192 });
      await eventually(async () => assert.deepEqual(await shownTotals(page), expectedTotals(report, 8192)));
      await shows(page, "agent-12");
    });
  });

  it("a drag picks nothing; hovering shows the text", async () => {
    await on("#/loom?tree=agent", async (page) => {
      const node = page.locator('[role="treeitem"][data-node="agent-35"]');
      // The drawing may still move, so the mouse follows until the page registers the node there.
      const box = await eventually(async () => {
        const now = await node.boundingBox();
        await page.mouse.move(now.x + now.width / 2, now.y + now.height / 2);
        await page.locator('.inspector[data-node-shown="agent-35"]').waitFor({ timeout: 1000 });
        assert.deepEqual(await node.boundingBox(), now);
        return now;
      });
      const from = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
      await page.mouse.down();
      await page.mouse.move(from.x + 40, from.y - 60, { steps: 4 });
      await page.mouse.up();
      const now = await node.boundingBox();
      assert.ok(Math.abs(now.x - box.x - 40) < 2 && Math.abs(now.y - box.y + 60) < 2, "the drawing moved along");
      await eventually(async () =>
        assert.equal(
          await page.locator('[role="treeitem"][aria-selected="true"]').getAttribute("data-node"),
          "agent-36",
        ),
      );
      // The wheel pans, with Ctrl it zooms.
      await page.mouse.wheel(0, 50);
      await eventually(async () => assert.ok((await node.boundingBox()).y < now.y - 40));
    });
  });

  it("by keyboard", async () => {
    const { tree, media } = await sample("agent");
    await on("#/loom?tree=agent", async (page) => {
      await page.getByRole("tree").focus();
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("ArrowUp");
      const id = tree.edges.find((edge) => edge.targetNodeId === "agent-35").sources[0].nodeId;
      await shows(page, id);
      const active = await page.getByRole("tree").getAttribute("aria-activedescendant");
      await eventually(async () => {
        assert.equal(await page.locator(`#${active}`).getAttribute("data-node"), id);
        assert.equal(
          await page.locator('[role="treeitem"][aria-selected="true"]').getAttribute("data-node"),
          "agent-36",
          "moving is not picking",
        );
      });
      await page.keyboard.press("Enter");
      const { report } = assembleDialogue({ tree, media, tip: id, contextWindow: 8192 });
      await eventually(async () => assert.deepEqual(await shownTotals(page), expectedTotals(report, 8192)));
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      await shows(page, "agent-36");
      await page.keyboard.press("Home");
      await shows(page, "agent-01");
      for (const key of ["+", "-", "0", "ArrowLeft", "ArrowRight", "End"]) await page.keyboard.press(key);
      await shows(page, id);
    });
  });

  it("from the list, with a search", async () => {
    const { tree } = await sample("story");
    await on("#/loom?tree=story", async (page) => {
      await page.getByRole("tab", { name: "List" }).click();
      await page.getByLabel("Which nodes").selectOption("all");
      await page.getByLabel("Search the nodes").fill("shore-16");
      await page.locator('[data-pick="shore-16"]').click();
      const { report } = assembleBuffer({ tree, tip: "shore-16", contextWindow: 4096 });
      await eventually(async () => assert.deepEqual(await shownTotals(page), expectedTotals(report, 4096)));
      await eventually(async () =>
        assert.equal(await page.locator('[data-pick="shore-16"]').getAttribute("aria-current"), "true"),
      );
      await page.getByLabel("Search the nodes").fill("no such words anywhere");
      await page.getByText("No node matches.").waitFor();
    });
  });

  it("a node is excluded and included again", async () => {
    await on("#/loom?tree=agent&window=100000", async (page) => {
      await page.getByRole("button", { name: "Exclude", exact: true }).click();
      await page.locator('[data-missing="agent-36"]').waitFor();
      await page.locator('[data-missing="agent-36"]').getByRole("button", { name: "Include" }).click();
      await page.locator('[data-segment="agent-36"]').waitFor();
      assert.ok(!page.url().includes("exclude="), "a value equal to the file's is not stored");
    });
  });
});

describe("choices and versions", () => {
  it("an ambiguous path asks for a choice, and applies it", async () => {
    const { tree, media } = await sample("sources");
    const base = { tree, media, tip: "a-16", contextWindow: 20_000 };
    const error = failure(() => assembleDialogue(base));
    await on("#/loom?tree=sources&tip=a-16&window=20000", async (page) => {
      await eventually(async () => assert.equal(await page.locator("[data-error-code]").textContent(), error.code));
      assert.equal(error.code, "ambiguous_path");
      const ways = await page.locator("[data-choice]").evaluateAll((all) => all.map((e) => e.dataset.choice));
      assert.deepEqual(ways.sort(), ["e-q-14-left", "e-q-14-right"]);
      for (const way of ["e-q-14-left", "e-q-14-right"]) {
        if (await page.locator(`[data-choice="${way}"]`).count()) await page.locator(`[data-choice="${way}"]`).click();
        else await page.getByLabel(/^Into /).selectOption(way);
        const { report } = assembleDialogue({ ...base, choices: { "q-14": way } });
        await eventually(async () => assert.deepEqual(await shownTotals(page), expectedTotals(report, 20_000)));
      }
      await page.getByRole("button", { name: /^Reset: Into/ }).click();
      await eventually(async () =>
        assert.equal(await page.locator("[data-error-code]").textContent(), "ambiguous_path"),
      );
    });
  });

  it("a version is picked", async () => {
    const { tree } = await sample("story");
    const base = { tree, tip: "alice-010", contextWindow: 100_000 };
    const latest = assembleBuffer(base);
    assert.ok(latest.report.path.includes("alice-004-v3"));
    await on("#/loom?tree=story&tip=alice-010&window=100000", async (page) => {
      const picker = page.getByLabel("Version of alice-004");
      await eventually(async () => assert.equal(await picker.inputValue(), "alice-004-v3"));
      await picker.selectOption("alice-004");
      const earlier = assembleBuffer({ ...base, versionSelections: { "alice-004": "alice-004" } });
      assert.notEqual(earlier.document, latest.document);
      await page.locator('[data-segment="alice-004"]').waitFor();
      await eventually(async () => assert.deepEqual(await shownTotals(page), expectedTotals(earlier.report, 100_000)));
      await page.getByRole("button", { name: "Reset: Version of alice-004" }).click();
      await page.locator('[data-segment="alice-004-v3"]').waitFor();
    });
  });
});

describe("user files", () => {
  const mine = {
    title: "Mine",
    nodes: [
      { id: "a", content: "Hello <b>there</b>", authorType: "human" },
      { id: "b", content: "And hello to you.", authorType: "model" },
    ],
    edges: [{ id: "e", sources: [{ nodeId: "a" }], targetNodeId: "b" }],
  };
  const upload = (page, name, text) =>
    page.locator("#tree-file").setInputFiles({ name, mimeType: "application/json", buffer: Buffer.from(text) });

  it("opens one, restores it after a reload, and shows its text as text", async () => {
    await on("#/loom", async (page) => {
      await upload(page, "mine.json", JSON.stringify(mine));
      await page.getByRole("radio", { name: "mine.json" }).waitFor({ state: "attached" });
      const { report } = assembleDialogue({ tree: mine, tip: "b", contextWindow: 8192 });
      await eventually(async () => assert.deepEqual(await shownTotals(page), expectedTotals(report, 8192)));
      await eventually(async () =>
        assert.equal(await page.locator('[data-segment="a"] .text').textContent(), "Hello <b>there</b>"),
      );
      await page.reload();
      await page.locator('[data-segment="a"]').waitFor();
      await eventually(async () =>
        assert.equal(await page.getByRole("radio", { name: "mine.json" }).isChecked(), true),
      );
    });
  });

  it("opens a dropped one", async () => {
    await on("#/loom", async (page) => {
      const data = await page.evaluateHandle((text) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([text], "dropped.json", { type: "application/json" }));
        return transfer;
      }, JSON.stringify(mine));
      await page.dispatchEvent("body", "dragover", { dataTransfer: data });
      await page.getByText("Drop the file to open it").waitFor();
      await page.dispatchEvent("body", "drop", { dataTransfer: data });
      await page.locator('[data-segment="b"]').waitFor();
      await eventually(async () => assert.equal(await page.getByText("Drop the file to open it").count(), 0));
    });
  });

  it("an invalid one shows an error, and the open tree is kept", async () => {
    const twice = { ...mine, nodes: [...mine.nodes, mine.nodes[0]] };
    const lost = { ...mine, edges: [{ id: "e", sources: [{ nodeId: "nowhere" }], targetNodeId: "b" }] };
    const odd = { ...mine, nodes: [{ ...mine.nodes[0], authorType: "robot" }], edges: [] };
    await on("#/loom?tree=agent&window=6000", async (page) => {
      const before = await shownTotals(page);
      for (const [text, expected] of [
        ["{ not json", /this is not JSON/],
        ["[1, 2]", /an array instead of an object/],
        ["{}", /nodes is missing/],
        ['{"nodes": [], "edges": 7}', /edges is a number/],
        [JSON.stringify(twice), /duplicate_id/],
        [JSON.stringify(lost), /edge_node_not_found/],
        [JSON.stringify(odd), /unknown_value/],
      ]) {
        await upload(page, "bad.json", text);
        const notice = page.locator(".source [role=alert]");
        await eventually(async () => assert.match(await notice.textContent(), expected));
        await eventually(async () => {
          assert.match(await notice.textContent(), /bad\.json/);
          assert.deepEqual(await shownTotals(page), before);
        });
      }
      await eventually(async () => assert.equal(await page.getByRole("radio", { name: "Agent" }).isChecked(), true));
      await page.locator(".source").getByRole("button", { name: "Dismiss" }).click();
      await eventually(async () => assert.equal(await page.locator(".source [role=alert]").count(), 0));
      await upload(page, "mine.json", JSON.stringify(mine));
      await page.locator('[data-segment="b"]').waitFor();
    });
  });

  it("opens an empty tree and reports that it is empty", async () => {
    await on("#/loom", async (page) => {
      await upload(page, "empty.json", '{"nodes":[],"edges":[]}');
      await page.getByText("The tree has no nodes.").waitFor();
    });
  });
});

describe("links", () => {
  it("settings survive a reload and open elsewhere", async () => {
    await on("#/loom?tree=sources&tip=a-11", async (page) => {
      await label(page, "Context window").fill("5000");
      await label(page, "Strategy").selectOption("truncateMiddle");
      await label(page, "Marker").fill("… & so on #{count} …");
      const request = await copied(page, "Copy request");
      const address = page.url();
      await page.reload();
      await page.locator(".result-pane").waitFor();
      assert.deepEqual(await copied(page, "Copy request"), request);
      await on(address.slice(address.indexOf("#")), async (other) =>
        assert.deepEqual(await copied(other, "Copy request"), request),
      );
    });
  });

  it("a link to a missing node shows the error, and back and forward work", async () => {
    await on("#/loom?tree=agent&tip=nobody", async (page) => {
      await eventually(async () =>
        assert.equal(await page.locator("[data-error-code]").textContent(), "node_not_found"),
      );
      await page.evaluate(() => (location.hash = "#/loom?tree=agent&tip=agent-12"));
      await page.locator('[data-segment="agent-12"]').waitFor();
      await page.evaluate(() => (location.hash = "#/loom?tree=story&tip=alice-010"));
      await page.locator('.document [data-segment="alice-010"]').waitFor();
    });
  });

  it("the link to the view keeps the open tree, and an unknown sample is reported", async () => {
    await on("#/loom?tree=agent&tip=agent-12&window=6000", async (page) => {
      const address = page.url();
      await page.getByRole("link", { name: "Branching conversations" }).click();
      await eventually(() => assert.equal(page.url(), address));
      await page.evaluate(() => (location.hash = "#/loom?tree=nonesuch&tip=x"));
      await eventually(async () =>
        assert.match(await page.getByRole("alert").textContent(), /unknown sample nonesuch/),
      );
      await page.locator("[data-message]").first().waitFor();
    });
  });

  it("a link to another user's file reports that the file is missing", async () => {
    const other = await openPage(site, "#/loom?tree=file&tip=b");
    await other.page.getByRole("alert").waitFor();
    await eventually(async () =>
      assert.match(await other.page.getByRole("alert").textContent(), /this browser does not have/),
    );
    await other.close();
  });
});

describe("diagnostics and report", () => {
  it("diagnostics are shown in full", async () => {
    const { tree, media } = await sample("agent");
    const { report } = assembleDialogue({ tree, media, tip: "agent-36", contextWindow: 100_000 });
    assert.ok(report.diagnostics.some(({ code }) => code === "tool_pair_broken"));
    await on("#/loom?tree=agent&window=100000", async (page) => {
      const shown = await page
        .locator(".diagnostic")
        .evaluateAll((all) =>
          all.map((e) => [e.querySelector("code").textContent, e.querySelector(".diagnostic-text").textContent]),
        );
      assert.deepEqual(
        shown,
        report.diagnostics.map(({ code, message }) => [code, message.replaceAll("`", "")]),
      );
    });
  });

  it("the table has a row for each node of the report", async () => {
    const { tree } = await sample("story");
    const { report } = assembleBuffer({ tree, tip: "alice-108", contextWindow: 4096 });
    await on("#/loom?tree=story", async (page) => {
      await page.getByRole("tab", { name: /Report/ }).click();
      const shown = await page
        .locator("[data-row]")
        .evaluateAll((all) => all.map((e) => [e.dataset.row, e.dataset.fate]));
      assert.deepEqual(
        shown,
        report.nodes.map(({ nodeId, fate }) => [nodeId, fate]),
      );
      await label(page, "Show").selectOption("cut");
      await eventually(async () =>
        assert.equal(
          await page.locator("[data-row]").count(),
          report.nodes.filter(({ fate }) => fate === "cut").length,
        ),
      );
    });
  });
});

describe("loom-aware", () => {
  const now = "2026-04-11T20:00:00Z";
  const tip = "01KNZ1KSR0X8FZ0SGS9TEEBYY1";
  const group = (page) => page.locator("fieldset").filter({ has: page.getByText("Loom-aware", { exact: true }) });

  it("a sample memory, headers and the loom block equal Node's, each at its position", async () => {
    const { tree, media } = await sample("lighthouse");
    await on(`#/loom?tree=lighthouse&tip=${tip}`, async (page) => {
      await eventually(async () => assert.equal(await page.locator("[data-block], .node-header").count(), 0));
      await group(page).getByLabel("The agent knows the tree").check();
      await label(page, "Now").fill(now);
      await group(page).getByRole("button", { name: "Fill with a sample" }).click();
      await page.locator('[data-block="memory"]').waitFor();
      const request = await copied(page, "Copy request");
      assert.equal(request.loomAware.now, now);
      assert.deepEqual(request, { tree, tip, contextWindow: 8192, media, loomAware: request.loomAware });
      const { messages, report } = assembleDialogue(request);
      await showPrompt(page);

      const first = messages[0].content;
      const memory = await page.locator('[data-block="memory"] .text').textContent();
      assert.ok(first.startsWith(`${memory}\n\n[opening] human · 1d ago`), memory);
      assert.match(memory, /^=== Operational Memory ===\nPinned:\n {2}\[01KNW9BQ\] model · 1d ago/u);
      const block = await page.locator('[data-block="loom"] .text').textContent();
      assert.ok(messages.at(-1).content.endsWith(`\n\n${block}`), block);
      // One header for each node with text, above it and in its segment.
      const headers = await page.locator("[data-segment]").evaluateAll((all) =>
        all.flatMap((segment) => {
          const header = segment.querySelector(".node-header");
          return header ? [[segment.dataset.segment, header.textContent]] : [];
        }),
      );
      const names = new Map(report.localIds.map(({ nodeId, localId }) => [nodeId, localId]));
      assert.equal(headers.length, 11);
      for (const [nodeId, header] of headers) assert.ok(header.startsWith(`[${names.get(nodeId)}] `), header);
      await eventually(async () => assert.deepEqual(await shownTotals(page), expectedTotals(report, 8192)));
      await page.getByRole("tab", { name: /Report/ }).click();
      const { addendum, headers: cost } = report.tokens.loomAware;
      await page.getByText(`addendum ${addendum} · memory`).waitFor();
      await page.getByText(`headers ${cost} · loom block`).waitFor();
    });
  });

  it("a small window cuts the conversation and keeps the blocks; each part can be disabled; a link carries the settings", async () => {
    const { tree, media } = await sample("lighthouse");
    const rows = assembleDialogue({ tree, media, tip, contextWindow: 1600 }).report.nodes.length;
    const hash = `#/loom?tree=lighthouse&tip=${tip}&window=1600&aware=headers+loomBlock&now=${now}&trace=viewed+it`;
    await on(hash, async (page) => {
      for (const block of ["memory", "loom", "marker"]) await page.locator(`[data-block="${block}"]`).waitFor();
      await eventually(async () => assert.ok((await page.locator("[data-missing]").count()) > 3));
      const whole = await accounted(page);
      assert.equal(new Set([...whole.held, ...whole.missing]).size, rows);
      await group(page).getByLabel("Loom block at the end").uncheck();
      await page.locator('[data-block="loom"]').waitFor({ state: "detached" });
      await group(page).getByLabel("Header on each message").uncheck();
      await page.locator(".node-header").first().waitFor({ state: "detached" });
      await page.locator('[data-block="memory"]').waitFor();
      await page.reload();
      await page.locator('[data-block="memory"]').waitFor();
      await eventually(async () => assert.equal(await page.locator('.node-header, [data-block="loom"]').count(), 0));
      await label(page, "Now").fill("yesterday");
      await page.getByRole("alert").filter({ hasText: "loomAware.now must be an RFC 3339 date and time" }).waitFor();
      await group(page).getByLabel("The agent knows the tree").uncheck();
      await page.locator('[data-block="memory"]').waitFor({ state: "detached" });
      assert.equal(new URL(page.url()).hash.includes("aware"), false);
    });
  });

  it("reports that documents do not support it", async () => {
    await on(`#/loom?tree=lighthouse&tip=${tip}&mode=buffer&aware=headers`, async (page) => {
      await page.getByText("For dialogues only").waitFor();
      await page.getByText("applies to dialogues only; it was ignored for a document").last().waitFor();
    });
  });
});
