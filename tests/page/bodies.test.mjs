// The request bodies in the Loom view, compared with those of the package in Node.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { init, requestBody, requestBodyWithReport } from "ctxweave";
import {
  choose,
  eventually,
  expectedTotals,
  fitsAcross,
  number,
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

const PROVIDERS = ["anthropic", "openai", "openai-responses", "gemini", "gemini-interactions", "completion"];
const hash = "#/loom?tree=agent&tip=agent-36&mode=dialogue&window=8192";

const on = (steps, options) =>
  visit(
    site,
    hash,
    async (page) => {
      await showPane(page, "Prompt");
      await page.getByRole("tab", { name: "Request" }).click();
      await steps(page);
    },
    options,
  );

const pick = (page, provider) => choose(page.locator(`.body-providers input[value="${provider}"]`));

/** The text that a copy button puts on the clipboard: "curl" or "body". */
async function copies(page, what) {
  await page.evaluate(() => navigator.clipboard.writeText(""));
  // By position: its label changes for two seconds.
  await page
    .locator(".body-view .raw-head button")
    .nth(what === "curl" ? 0 : 1)
    .click();
  return eventually(async () => {
    const text = await page.evaluate(() => navigator.clipboard.readText());
    assert.notEqual(text, "");
    return text;
  });
}

async function bodyInNode(provider, model, extra = {}) {
  const { tree, media } = await sample("agent");
  const request = { tree, tip: "agent-36", contextWindow: 8192, ...(media ? { media } : {}) };
  return JSON.parse(new TextDecoder().decode(requestBody({ ...request, target: { provider, model, ...extra } })));
}

describe("request bodies", () => {
  it("each provider's body equals Node's, and can be copied as a command that sends it", async () => {
    await on(async (page) => {
      for (const provider of PROVIDERS) {
        await pick(page, provider);
        await page.getByLabel("Model", { exact: true }).fill("some-model");
        const expected = await bodyInNode(provider, "some-model");
        await eventually(async () => assert.deepEqual(JSON.parse(await copies(page, "body")), expected, provider));
        const command = await copies(page, "curl");
        assert.match(command, /^curl 'https:/);
        await eventually(async () =>
          assert.ok(command.includes(await page.locator("[data-endpoint]").textContent()), command.slice(0, 200)),
        );
        // A stand-in for curl prints the arguments and the input that a shell passes.
        const fake = "curl() { printf '%s\\n' \"$@\"; echo ---; cat; }\n";
        const { stdout } = spawnSync("sh", ["-c", fake + command], {
          encoding: "utf8",
          env: { PATH: process.env.PATH, API_KEY: "secret" },
        });
        const [args, body] = stdout.split("---\n");
        assert.deepEqual(JSON.parse(body), expected, provider);
        assert.match(args, /secret/);
        assert.match(args, /content-type: application\/json/);
      }
    });
  });

  it("bar, tree, report and body show the same assembly, for each provider and for none", async () => {
    const { tree, media } = await sample("agent");
    await on(async (page) => {
      await eventually(async () =>
        assert.equal(await page.locator('[data-json="body"]').count(), 0, "without a provider there is no body"),
      );
      for (const provider of PROVIDERS) {
        await page.getByRole("tab", { name: "Request" }).click();
        await pick(page, provider);
        await page.getByLabel("Model", { exact: true }).fill("some-model");
        const target = { provider, model: "some-model" };
        const { report } = requestBodyWithReport({ tree, media, tip: "agent-36", contextWindow: 8192, target });
        await eventually(async () => assert.deepEqual(await shownTotals(page), expectedTotals(report, 8192), provider));
        const cut = report.nodes.filter(({ fate }) => fate === "cut");
        await eventually(async () =>
          assert.equal(await page.locator('[role="treeitem"][data-fate="cut"]').count(), cut.length, provider),
        );
        await page.getByRole("tab", { name: /Report/ }).click();
        await eventually(async () => {
          assert.deepEqual(
            (
              await page.locator('[data-row][data-fate="cut"]').evaluateAll((all) => all.map((e) => e.dataset.row))
            ).sort(),
            cut.map(({ nodeId }) => nodeId).sort(),
          );
          assert.equal(number(await page.locator("[data-total]").textContent()), report.tokens.total);
        });
        const asked = new URLSearchParams(page.url().split("?")[1]);
        assert.deepEqual([asked.get("provider"), asked.get("model")], [provider, "some-model"]);
      }
      await page.reload();
      await page.getByRole("tab", { name: "Request" }).click();
      await eventually(async () =>
        assert.equal(await page.locator(".body-providers input:checked").inputValue(), "completion"),
      );
      // A document is not for a provider of messages, and messages are not for one of documents.
      await choose(page.getByRole("radio", { name: "Dialogue" }));
      await eventually(async () => assert.equal(await page.locator(".body-providers input:checked").count(), 0));
    });
  });

  it("reports content that a provider cannot express, and sets cache breakpoints on request", async () => {
    await on(async (page) => {
      await pick(page, "openai");
      await page.locator('[data-json="body"]').waitFor();
      await eventually(async () =>
        assert.ok((await page.locator(".diagnostic").allTextContents()).some((text) => /reasoning/i.test(text))),
      );
      await pick(page, "anthropic");
      await eventually(async () =>
        assert.ok(!(await page.locator('[data-json="body"]').textContent()).includes("cache_control")),
      );
      await page.getByLabel("Cache breakpoints").check();
      await eventually(async () =>
        assert.ok((await page.locator('[data-json="body"]').textContent()).includes("cache_control")),
      );
    });
  });

  it("follows the settings, and shows errors", async () => {
    await on(async (page) => {
      await pick(page, "gemini");
      await page.getByLabel("Agent’s system prompt", { exact: true }).fill("Speak plainly.");
      await eventually(async () =>
        assert.match(await page.locator('[data-json="body"]').textContent(), /"systemInstruction"[\s\S]*Speak plainly/),
      );
      await page.getByLabel("Context window", { exact: true }).fill("1030");
      await eventually(async () => assert.equal(await page.locator("[data-error-code]").count(), 1));
    });
  });

  it("fits wide and narrow, light and dark", async () => {
    for (const colorScheme of ["light", "dark"]) {
      for (const width of [1440, 390]) {
        await on(
          async (page) => {
            await pick(page, "openai");
            await page.locator('[data-json="body"]').waitFor();
            await fitsAcross(page);
            await page.locator(".body-view").scrollIntoViewIfNeeded();
            await page.screenshot({ path: join(screenshots, `bodies-${colorScheme}-${width}.png`) });
          },
          { width, height: 900, colorScheme },
        );
      }
    }
  });
});
