// A message being written in the Loom view, compared with the package's results in Node for a tree that contains it.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { assembleDialogue, countTokens, init, LoomTree, requestBody } from "ctxweave";
import { findings } from "./axe.mjs";
import {
  agreeing,
  choose,
  copied,
  eventually,
  holds,
  expectedTotals,
  fitsAcross,
  sample,
  screenshots,
  shownTotals,
  showPane,
  start,
  visit,
} from "./harness.mjs";

let site;
before(async () => {
  await init();
  site = await start();
});
after(() => site.stop());

const on = (hash, steps, options) => visit(site, hash, steps, options);

const field = (page) => page.getByLabel("Pending message", { exact: true });
const text = "And what does the keeper say to that? 🌊";

/** The tree as if the message had been sent. */
function sent(tree, tip, content, id = "unsent") {
  return {
    ...tree,
    nodes: [...tree.nodes, { id, content, authorType: "human" }],
    edges: [...tree.edges, { id, sources: [{ nodeId: tip }], targetNodeId: id }],
  };
}

async function requestOf(name, tip, contextWindow, content) {
  const { tree, media } = await sample(name);
  const rest = { contextWindow, ...(media ? { media } : {}) };
  return content === undefined ? { tree, tip, ...rest } : { tree: sent(tree, tip, content), tip: "unsent", ...rest };
}

/** Asserts that the page shows Node's result for the request. */
async function shows(page, request) {
  const { messages, report } = assembleDialogue(request);
  await eventually(async () =>
    assert.deepEqual(await shownTotals(page), expectedTotals(report, request.contextWindow)),
  );
  await eventually(async () => assert.equal(await page.locator("[data-message]").count(), messages.length));
  return report;
}

describe("a message being written", () => {
  it("is part of the messages on every keystroke, and leaves no trace when deleted", async () => {
    await on("#/loom?tree=agent&tip=agent-36", async (page) => {
      const without = await requestOf("agent", "agent-36", 8192);
      await shows(page, without);
      const nodes = await page.locator('[role="treeitem"]').count();
      for (let length = 1; length <= 12; length++) {
        await field(page).press("End");
        await field(page).pressSequentially(text[length - 1]);
        if (length % 4 === 0) await shows(page, await requestOf("agent", "agent-36", 8192, text.slice(0, length)));
      }
      await field(page).fill(text);
      const request = await requestOf("agent", "agent-36", 8192, text);
      await shows(page, request);
      await eventually(async () => {
        assert.equal(await page.locator(".segment.pending .text").last().textContent(), text);
        assert.equal(await page.locator(".segment.pending .tag").textContent(), "not sent");
        assert.equal(await page.locator('[role="treeitem"]').count(), nodes, "it is not drawn in the tree");
      });
      assert.deepEqual(await copied(page, "Copy request"), request);
      assert.deepEqual(await copied(page, "Copy result"), JSON.parse(JSON.stringify(assembleDialogue(request))));
      await field(page).fill("");
      assert.deepEqual(await copied(page, "Copy request"), without);
      assert.deepEqual(await copied(page, "Copy result"), JSON.parse(JSON.stringify(assembleDialogue(without))));
      // A blank message would be skipped, and is not measured.
      await field(page).fill(" \n ");
      assert.deepEqual(await copied(page, "Copy request"), without);
    });
  });

  it("shows its cost and the distance of the whole path from the limit", async () => {
    const request = await requestOf("agent", "agent-36", 100_000, text);
    const measure = (contextWindow) => {
      const tree = new LoomTree(request.tree);
      const { remaining } = tree.measurePath({ tip: "unsent", contextWindow, media: request.media });
      tree.free();
      return remaining;
    };
    await on("#/loom?tree=agent&tip=agent-36&window=100000", async (page) => {
      await field(page).fill(text);
      const cost = page.locator("[data-pending-tokens]");
      const shown = () => cost.evaluate(({ dataset }) => [dataset.pendingTokens, dataset.remaining].map(Number));
      await eventually(async () => assert.deepEqual(await shown(), [countTokens(text), measure(100_000)]));
      assert.ok(measure(100_000) > 0);
      await eventually(async () => assert.match(await cost.textContent(), /leaves [\d,]+ of the limit/));
      await page.getByLabel("Context window", { exact: true }).fill("6000");
      await eventually(async () => assert.deepEqual(await shown(), [countTokens(text), measure(6000)]));
      assert.ok(measure(6000) < 0);
      await eventually(async () => assert.match(await cost.textContent(), /over the limit by [\d,]+/));
      // The error of the strategy that cuts nothing agrees.
      await page.getByLabel("Strategy", { exact: true }).selectOption("stopAtLimit");
      const over = await page.locator('[data-figure="overBy"]').textContent();
      assert.equal(Number(over.replaceAll(",", "")), -measure(6000));
      const row = page.locator('[data-cost="unsent"]');
      await eventually(async () => {
        assert.match(await row.textContent(), /not sent/);
        assert.equal(await row.getByRole("button").count(), 0, "an unsent message has no Exclude button");
      });
    });
  });

  it("follows the tip, is not part of documents, and is removed with the tree", async () => {
    await on("#/loom?tree=sources&tip=q-12", async (page) => {
      await field(page).fill(text);
      await shows(page, await requestOf("sources", "q-12", 8192, text));
      await page.getByRole("tab", { name: "List" }).click();
      await eventually(async () => assert.equal(await page.getByText("unsent").count(), 0));
      await page.evaluate(() => (location.hash = location.hash.replace("tip=q-12", "tip=a-11")));
      await shows(page, await requestOf("sources", "a-11", 8192, text));
      await holds(field(page), text);
      await page.reload();
      await shows(page, await requestOf("sources", "a-11", 8192, text));

      await choose(page.getByRole("radio", { name: "Buffer" }));
      await page.locator(".document").waitFor();
      await eventually(async () => assert.equal(await field(page).count(), 0));
      const { tree, tip } = await copied(page, "Copy request");
      assert.equal(tip, "a-11");
      assert.deepEqual(tree, (await sample("sources")).tree);
      await page.getByRole("tab", { name: "Document" }).click();
      await eventually(async () =>
        assert.ok(!(await page.locator(".document").textContent()).includes("the keeper say to that")),
      );
      await choose(page.getByRole("radio", { name: "Dialogue" }));
      await shows(page, await requestOf("sources", "a-11", 8192, text));

      await choose(page.getByRole("radio", { name: "Agent" }));
      await shows(page, await requestOf("agent", "agent-36", 8192));
      await eventually(async () => assert.equal(await field(page).inputValue(), ""));
    });
  });

  it("is in the body for the provider", async () => {
    await on("#/loom?tree=agent&tip=agent-36", async (page) => {
      await field(page).fill(text);
      await page.getByRole("tab", { name: "Request" }).click();
      for (const provider of ["anthropic", "gemini"]) {
        await choose(page.locator(`.body-providers input[value="${provider}"]`));
        await page.getByLabel("Model", { exact: true }).fill("some-model");
        const request = await requestOf("agent", "agent-36", 8192, text);
        const body = requestBody({ ...request, target: { provider, model: "some-model" } });
        await eventually(async () => {
          await page.evaluate(() => navigator.clipboard.writeText(""));
          await page.locator(".body-view .raw-head button").nth(1).click();
          const shown = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
          assert.deepEqual(shown, JSON.parse(new TextDecoder().decode(body)));
        });
      }
      await eventually(async () =>
        assert.match(await page.locator('[data-json="body"]').textContent(), /the keeper say to that/),
      );
    });
  });

  it("has a unique id if a node has the same one, and begins an empty tree", async () => {
    const nodes = [{ id: "unsent", content: "Hello", authorType: "human" }];
    const open = async (page, tree) => {
      const buffer = Buffer.from(JSON.stringify(tree));
      await page.locator("#tree-file").setInputFiles({ name: "mine.json", mimeType: "application/json", buffer });
    };
    await on("#/loom", async (page) => {
      await open(page, { nodes, edges: [] });
      await page.locator('[data-segment="unsent"]').waitFor();
      await field(page).fill(text);
      const tree = sent({ nodes, edges: [] }, "unsent", text, "unsent-");
      await shows(page, { tree, tip: "unsent-", contextWindow: 8192 });
      await agreeing(page);
      await open(page, { nodes: [], edges: [] });
      await page.getByText("The tree has no nodes.").waitFor();
      await field(page).fill(text);
      const only = { nodes: [{ id: "unsent", content: text, authorType: "human" }], edges: [] };
      await shows(page, { tree: only, tip: "unsent", contextWindow: 8192 });
      await field(page).fill("");
      await page.getByText("The tree has no nodes.").waitFor();
    });
  });
});

describe("how it looks", () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 390]) {
      it(`${width}, ${colorScheme}`, async () => {
        const hash = `#/loom?tree=lighthouse&window=1600&message=${encodeURIComponent(text)}`;
        await on(
          hash,
          async (page) => {
            await showPane(page, "Prompt");
            await page.locator(".segment.pending").waitFor();
            await page.screenshot({
              path: join(screenshots, `pending-${width}-${colorScheme}.png`),
              fullPage: width < 800,
            });
            assert.deepEqual(await findings(page), []);
            await fitsAcross(page);
          },
          { width, height: 900, colorScheme },
        );
      });
    }
  }
});
