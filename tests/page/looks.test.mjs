// Appearance and accessibility of the page: both themes, narrow, by keyboard, and checked by axe.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";
import { findings, slips } from "./axe.mjs";
import { choose, eventually, isEveryLook, openNothing, openPage, screenshots, start } from "./harness.mjs";

let site;
before(async () => {
  site = await start();
});
after(() => site.stop());

const root = fileURLToPath(new URL("../../", import.meta.url));
const chooseTab = (page, name) => page.getByRole("tab", { name }).click();

const VIEWS = [
  { name: "story", hash: "#/loom?tree=story" },
  { name: "agent", hash: "#/loom?tree=agent" },
  { name: "sources", hash: "#/loom?tree=sources&window=9000&strategy=truncateMiddle" },
  { name: "dialogue-cut", hash: "#/loom?tree=story&mode=dialogue&window=3000" },
  { name: "error", hash: "#/loom?tree=agent&window=6000&strategy=stopAtLimit" },
  {
    name: "exact",
    hash: "#/loom?tree=agent&tokens=o200k_base",
    steps: async (page) => {
      await page.locator("[data-estimate]").waitFor();
    },
  },
  {
    name: "exact-failed",
    hash: "#/loom?tree=agent",
    steps: async (page) => {
      await page.route(/\.bin$/, (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html>" }));
      await page.getByLabel("Tokens", { exact: true }).selectOption("cl100k_base");
      await page.getByRole("alert").waitFor();
    },
  },
  {
    name: "aware",
    hash: "#/loom?tree=lighthouse&window=1600&aware=addendum+headers+loomBlock&now=2026-04-11T20:00:00Z&trace=viewed",
  },
  { name: "choice", hash: "#/loom?tree=sources&tip=a-16" },
  {
    name: "report-and-list",
    hash: "#/loom?tree=agent&window=6000",
    steps: async (page) => {
      await page.getByRole("tab", { name: /Report/ }).click();
      await page.getByRole("tab", { name: "List" }).click();
    },
  },
  {
    name: "json-and-legend",
    hash: "#/loom?tree=sources",
    steps: async (page) => {
      await page.getByRole("tab", { name: "JSON" }).click();
      await page.getByText("Legend", { exact: true }).click();
    },
  },
  {
    name: "bad-file",
    hash: "#/loom?tree=agent",
    steps: async (page) => {
      await page
        .locator("#tree-file")
        .setInputFiles({ name: "bad.json", mimeType: "application/json", buffer: Buffer.from('{"nodes": 1}') });
      await page.getByRole("alert").filter({ hasText: "this is not a Loom tree" }).waitFor();
    },
  },
  { name: "request-of-none", hash: "#/loom?tree=agent&window=6000", steps: (page) => chooseTab(page, "Request") },
  {
    name: "request",
    hash: "#/loom?tree=agent&window=6000&provider=anthropic",
    steps: (page) => chooseTab(page, "Request"),
  },

  { name: "workspace", hash: "#/workspace" },
  {
    name: "workspace-tastes-and-json",
    hash: "#/workspace",
    steps: async (page) => {
      await chooseTab(page, "Tastes");
      await chooseTab(page, "JSON");
      await page.locator('[data-json="read_context"]').waitFor();
    },
  },
  {
    name: "workspace-empty",
    hash: "#/workspace",
    steps: async (page) => {
      for (const name of ["Brief", "Notes", "Log", "Gaps"]) {
        await chooseTab(page, name);
        await page.locator("textarea").fill("");
      }
    },
  },
  {
    name: "workspace-refused",
    hash: "#/workspace",
    steps: async (page) => {
      await chooseTab(page, "Limits");
      await page.getByLabel("Log entries").fill("0.5");
      await page.locator("[data-error-code]").waitFor();
    },
  },
  { name: "workspace-nothing-opened", hash: "#/workspace", steps: openNothing },

  { name: "folders", hash: "#/folders" },
  {
    name: "folders-chain",
    hash: "#/folders?select=&select=Projects%2Fparachute&parents=1&max=150",
    steps: async (page) => {
      await chooseTab(page, /^Chain/);
      await page.locator("[data-omitted-file]").first().waitFor();
    },
  },
  {
    name: "folders-findings",
    hash: "#/folders?select=Odd%2Fbad-yaml&select=Odd%2Flatin-1&select=Odd%2Fdelimiters",
    steps: async (page) => {
      await chooseTab(page, /^Chain/);
      await page.locator(".result-pane [data-finding]").first().waitFor();
    },
  },
  {
    name: "folders-told",
    hash: "#/folders",
    steps: async (page) => {
      const path = "Projects/parachute/base/db/CLAUDE.md";
      await page.locator(`[data-file="${path}"]`).click();
      await page.getByLabel(path, { exact: true }).fill("# Changed\n");
      await page.getByRole("heading", { name: "Notified of this change" }).waitFor();
      await chooseTab(page, "JSON");
    },
  },
  { name: "folders-none", hash: "#/folders?select=+", steps: (page) => page.locator(".empty").waitFor() },
  {
    name: "folders-refused",
    hash: "#/folders?max=0.5",
    steps: (page) => page.locator("[data-error-code]").waitFor(),
  },
  { name: "folders-nothing-opened", hash: "#/folders", steps: openNothing },

  { name: "commits", hash: "#/commits", steps: (page) => page.locator(".said [data-role]").first().waitFor() },
  {
    name: "commits-why",
    hash: "#/commits",
    steps: async (page) => {
      await page.locator(".said [data-role]").first().waitFor();
      await chooseTab(page, "Why");
      await page.locator("[data-step]").first().waitFor();
    },
  },
  {
    name: "commits-fork",
    hash: "#/commits",
    steps: async (page) => {
      await page.locator(".said [data-role]").first().waitFor();
      await page.getByLabel("Continue from here with").fill("What if it were the other way round?");
      await page.getByRole("button", { name: "Fork" }).click();
      await page.locator(".said").getByText("What if it were the other way round?").waitFor();
    },
  },
  {
    name: "commits-rendering",
    hash: "#/commits",
    steps: async (page) => {
      // Opening a file resets the format.
      await page.locator(".said [data-role]").first().waitFor();
      await page.getByLabel("As", { exact: true }).selectOption("generic-v1");
      await page.getByLabel("From another agent").selectOption("render");
      await page.locator('[data-tier="rendering"]').waitFor();
      await chooseTab(page, "Bytes");
    },
  },
  {
    name: "commits-refused",
    hash: "#/commits",
    steps: async (page) => {
      await page.locator(".said [data-role]").first().waitFor();
      const last = await page.locator("[data-commit]").last().getAttribute("data-commit");
      await page.locator(`[data-commit="${last}"]`).click();
      await page.getByLabel("Back to").selectOption(last);
      await page.locator("[data-commit]").first().click();
      await page.getByRole("alert").waitFor();
    },
  },
  {
    name: "commits-bad-file",
    hash: "#/commits",
    steps: async (page) => {
      await page
        .locator("#session-file")
        .setInputFiles({ name: "none.jsonl", mimeType: "application/jsonl", buffer: Buffer.from("no session") });
      await page.getByRole("alert").waitFor();
    },
  },
  {
    name: "commits-notes",
    hash: "#/commits",
    steps: async (page) => {
      await page.locator("#session-file").setInputFiles(join(root, "examples", "sessions", "codex-v0.jsonl"));
      await page.getByText("codex-v0.jsonl").waitFor();
      await page.locator(".said [data-role]").first().waitFor();
    },
  },

  { name: "operators", hash: "#/operators" },
];

describe("both themes", () => {
  for (const { name, hash, steps } of VIEWS) {
    it(name, async () => {
      const { page, close } = await openPage(site, hash);
      await steps?.(page);
      assert.deepEqual(await slips(page), []);
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await page.screenshot({ path: join(screenshots, `${name}-${colorScheme}.png`) });
        // A theme changes only colours.
        const rules = colorScheme === "light" ? undefined : ["color-contrast"];
        await eventually(async () => assert.deepEqual(await findings(page, rules), []), 2000);
      }
      await close();
    });
  }

  it("the theme can be chosen, and the choice is remembered", async () => {
    const { page, close } = await openPage(site, "", { colorScheme: "light" });
    const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = await paper();
    await page.getByRole("button", { name: "Dark theme" }).click();
    const dark = await paper();
    assert.notEqual(dark, light);
    await page.reload();
    await page.locator(".result-pane").waitFor();
    assert.equal(await paper(), dark);
    await page.getByRole("button", { name: "Theme of the device" }).click();
    assert.equal(await paper(), light);
    await close();
  });
});

describe("narrow", () => {
  for (const [size, width] of [
    ["narrow", 400],
    ["middling", 1000],
  ]) {
    it(`nothing overflows at ${width} pixels`, async () => {
      for (const hash of [
        "#/loom?tree=sources&window=9000",
        "#/loom?tree=story&tokens=cl100k_base",
        "#/loom?tree=agent&window=6000&strategy=stopAtLimit",
      ]) {
        const { page, close } = await openPage(site, hash, { width, height: 900 });
        if (hash.includes("tokens=")) await page.locator("[data-estimate]").waitFor();
        await eventually(async () =>
          assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, hash),
        );
        const panes = page.getByRole("group", { name: "Pane" }).getByRole("radio");
        const tree = /tree=([a-z]+)/.exec(hash)[1];
        for (const pane of await panes.all()) {
          await choose(pane);
          const name = `${tree}-${await pane.getAttribute("value")}`;
          // Only tables, code and the navigation may be wider than their container; they scroll.
          const tooWide = await page.evaluate(() =>
            [...document.querySelectorAll("#app *")]
              .filter(
                (e) =>
                  e.checkVisibility() &&
                  !e.closest("svg, .surface, .visually-hidden, .skip, .table-scroll, pre, .top nav"),
              )
              .filter((e) => {
                const { overflowX, position } = getComputedStyle(e);
                const spills = e.scrollWidth > e.clientWidth + 1 && ["auto", "scroll", "visible"].includes(overflowX);
                return position !== "absolute" && e.clientWidth > 0 && spills;
              })
              .map((e) => `${e.tagName}.${e.className} ${e.scrollWidth} in ${e.clientWidth}`),
          );
          assert.deepEqual(tooWide, [], hash);
          await page.screenshot({ path: join(screenshots, `${size}-${name}.png`) });
          if (isEveryLook || size === "narrow") assert.deepEqual(await findings(page), []);
        }
        await close();
      }
    });
  }

  for (const [view, panes, hash] of [
    ["loom", ["Tree", "Settings", "Prompt"], "#/loom?tree=agent"],
    ["folders", ["Folders", "Settings", "Prompt"], "#/folders"],
    ["workspace", ["Files", "Response"], "#/workspace"],
    ["operators", ["Template", "Operators", "Assembly"], "#/operators"],
  ]) {
    it(`${view}: at 390 pixels one pane at a time, by key, on a page as high as the screen`, async () => {
      for (const colorScheme of isEveryLook ? ["light", "dark"] : [view === "loom" ? "light" : "dark"]) {
        const { page, close } = await openPage(site, hash, { width: 390, height: 844, colorScheme });
        const picker = page.getByRole("group", { name: "Pane" });
        await picker.waitFor();
        await eventually(async () => assert.deepEqual(await picker.locator("label").allTextContents(), panes));
        await picker.getByRole("radio", { name: panes[0] }).focus();
        for (const [at, name] of panes.entries()) {
          if (at > 0) await page.keyboard.press("ArrowRight");
          const pane = page.locator(".panes > .pane:visible");
          await eventually(async () => assert.equal(await pane.count(), 1, name));
          const { y, height } = await pane.boundingBox();
          assert.ok(height > 250 && y + height <= 844, `${name}: ${y} + ${height}`);
          await eventually(async () =>
            assert.ok((await page.evaluate(() => document.documentElement.scrollHeight)) <= 844, name),
          );
          await page.screenshot({ path: join(screenshots, `small-${view}-${at}-${colorScheme}.png`) });
          assert.deepEqual(await findings(page), [], name);
        }
        // The name of the view is visible.
        const { x, width } = await page.locator(".top nav [aria-current]").boundingBox();
        const nav = await page.locator(".top nav").boundingBox();
        assert.ok(x >= nav.x - 1 && x + width <= nav.x + nav.width + 1, view);
        await close();
      }
    });
  }

  it("the name of the view remains visible when the window gets narrow", async () => {
    for (const view of ["tokens", "commits"]) {
      const { page, close } = await openPage(site, `#/${view}`);
      await page.setViewportSize({ width: 390, height: 844 });
      await eventually(async () => {
        const { x, width } = await page.locator(".top nav [aria-current]").boundingBox();
        const nav = await page.locator(".top nav").boundingBox();
        assert.ok(x >= nav.x - 1 && x + width <= nav.x + nav.width + 1, view);
      });
      await close();
    }
  });

  it("after a resize the drawing keeps its middle, and visible nodes visible", async () => {
    const { module } = await runnerImport(
      fileURLToPath(new URL("../../www/src/views/loom/viewport.ts", import.meta.url)),
    );
    const { resized } = module;
    const before = { width: 400, height: 300 };
    const t = { x: 10, y: 20, k: 2 };
    assert.equal(resized(t, before, { ...before }, undefined), t);
    assert.deepEqual(resized(t, before, { width: 500, height: 200 }, undefined), { x: 60, y: -30, k: 2 });
    // At 310, 240 on the screen: it would be below the lower edge, and is 28 above it.
    const seen = { x: 150, y: 110 };
    const low = resized(t, before, { width: 400, height: 100 }, seen);
    assert.deepEqual([seen.x * low.k + low.x, seen.y * low.k + low.y], [310, 72]);
    // An invisible node does not move the drawing.
    assert.deepEqual(resized(t, before, { width: 400, height: 100 }, { x: 900, y: 110 }), { x: 10, y: -80, k: 2 });
  });

  it("no frame shows the drawing stretched", async () => {
    const { page, close } = await openPage(site, "#/loom?tree=agent", { width: 390, height: 844 });
    await page.getByRole("group", { name: "Pane" }).waitFor();
    // Notified of each size in the frame that has it, after the page's observer.
    await page.evaluate(() => {
      const canvas = document.querySelector(".surface canvas");
      globalThis.sizes = { painted: [], stretched: [] };
      const observer = new ResizeObserver(() => {
        const shown = [canvas.clientWidth, canvas.clientHeight].map((length) => Math.round(length * devicePixelRatio));
        const isPainted = canvas.width === shown[0] && canvas.height === shown[1];
        if (shown[0] > 0) globalThis.sizes[isPainted ? "painted" : "stretched"].push(shown.join(" × "));
      });
      observer.observe(canvas);
    });
    await choose(page.getByRole("radio", { name: "Tree", exact: true }));
    for (const [width, height] of [
      [390, 700],
      [600, 844],
      [1024, 768],
      [1440, 900],
    ]) {
      const before = await page.evaluate(() => globalThis.sizes.painted.length + globalThis.sizes.stretched.length);
      await page.setViewportSize({ width, height });
      await page.waitForFunction(
        (before) => globalThis.sizes.painted.length + globalThis.sizes.stretched.length > before,
        before,
      );
    }
    const { painted, stretched } = await page.evaluate(() => globalThis.sizes);
    assert.ok(painted.length >= 4, `${painted}`);
    assert.deepEqual(stretched, []);
    await close();
  });

  it("the skip link leads to the result if another pane is shown", async () => {
    const { page, close } = await openPage(site, "#/loom?tree=agent", { width: 390, height: 844 });
    await page.getByRole("group", { name: "Pane" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.id === "result");
    await eventually(async () => assert.ok(await page.locator("#result").isVisible()));
    await close();
  });

  it("the bar is next to the slider that moves it", async () => {
    const { page, close } = await openPage(site, "#/loom?tree=agent", { width: 390, height: 844 });
    await choose(page.getByRole("radio", { name: "Settings" }));
    const slider = await page.getByRole("slider", { name: "Context window" }).first().boundingBox();
    const bar = await page.locator(".budget .bar").boundingBox();
    assert.ok(slider.y < 844 && slider.y - bar.y < 420, `${slider.y - bar.y} apart`);
    await close();
  });

  it("at 1024 × 768 the drawing fits, and alternates with the settings", async () => {
    const { page, close } = await openPage(site, "#/loom?tree=agent", { width: 1024, height: 768 });
    const drawing = await page.getByRole("tree").boundingBox();
    assert.ok(drawing.height > 300 && drawing.width > 260, `${drawing.width} × ${drawing.height}`);
    await choose(page.getByRole("group", { name: "Pane" }).getByRole("radio", { name: "Settings" }));
    await page.getByLabel("Strategy", { exact: true }).waitFor();
    await eventually(async () => assert.ok(await page.locator("#result").isVisible()));
    assert.deepEqual(await findings(page), []);
    await close();
  });

  it("if the page scrolls, a wheel over the drawing scrolls the page", async () => {
    // A screen that is too low for the panes.
    const { page, close } = await openPage(site, "#/loom?tree=agent", { width: 1440, height: 500 });
    const box = await page.getByRole("tree").boundingBox();
    await page.mouse.move(box.x + 50, box.y + 50);
    await page.mouse.wheel(0, 80);
    await page.waitForFunction(() => scrollY > 40);
    await close();
  });
});

describe("keyboard", () => {
  it("everything is reached in a sensible order, with visible focus", async () => {
    const { page, close } = await openPage(site, "#/loom?tree=agent");
    const stops = [];
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press("Tab");
      const stop = await page.evaluate(() => {
        const e = document.activeElement;
        if (!e || e === document.body) return undefined;
        const shown = e.closest(".segmented label") ? e.nextElementSibling : e;
        const { outlineStyle, outlineWidth } = getComputedStyle(shown);
        return {
          what: e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent ?? e.textContent ?? "",
          seen: outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 1,
        };
      });
      if (!stop) break;
      stops.push(stop);
    }
    assert.deepEqual(
      stops.filter(({ seen }) => !seen),
      [],
      "each stop shows where the focus is",
    );
    const at = (pattern) => stops.findIndex(({ what }) => pattern.test(what));
    const order = [
      /Skip to/,
      /ctxweave/,
      /Branching/,
      /Theme/,
      /^Agent$/,
      /Open a file/,
      /^Drawing/,
      /^Tree:/,
      /Zoom in/,
      /^Exclude$/,
      /Settings/,
      /Context window/,
      /Strategy/,
      /Provider/,
      /Messages/,
    ].map(at);
    assert.ok(
      order.every((i) => i >= 0),
      `all are reached: ${order}`,
    );
    assert.deepEqual(
      order,
      [...order].sort((a, b) => a - b),
    );
    await close();
  });

  it("the skip link leads to the result", async () => {
    const { page, close } = await openPage(site, "#/loom?tree=agent");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement.id === "result");
    assert.match(page.url(), /tree=agent/, "the address is unchanged");
    await close();
  });

  it("tabs move by arrow keys", async () => {
    const { page, close } = await openPage(site, "#/loom?tree=agent");
    await page.getByRole("tab", { name: "Messages" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.locator("[data-row]").first().waitFor();
    await page.keyboard.press("End");
    await page.locator('[data-json="request"]').waitFor();
    await page.keyboard.press("Home");
    await page.locator("[data-message]").first().waitFor();
    await close();
  });

  it("respects the preference for reduced motion", async () => {
    const { page, close } = await openPage(site, "#/loom?tree=agent");
    const moving = await page.evaluate(
      () =>
        [...document.querySelectorAll("*")].filter((e) =>
          getComputedStyle(e)
            .transitionDuration.split(",")
            .some((d) => Number.parseFloat(d) > 0),
        ).length,
    );
    assert.equal(moving, 0);
    await close();
  });
});
