// The Tokens view: the drawing equals the package's result, for every vocabulary; a long text is as fast as a short
// one.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { init, splitText, tokenSpans, truncateText } from "ctxweave/tokens";
import { file as tokenizerFile } from "../runtimes/tokenizer-json.mjs";
import { findings } from "./axe.mjs";
import {
  LOOKS,
  agreeing,
  drop,
  eventually,
  fitsAcross,
  number,
  openPage,
  ownLink,
  screenshots,
  showPane,
  start,
  visit,
} from "./harness.mjs";

let site;
before(async () => {
  await init();
  await Promise.all([
    ...["o200k_base", "o200k_harmony", "cl100k_base"].map(async (name) =>
      (await import(`ctxweave/vocab/${name}`)).load(),
    ),
    ...["p50k_base", "p50k_edit", "r50k_base", "gpt2"].map(async (name) =>
      (await import(`ctxweave-vocab/${name}`)).load(),
    ),
  ]);
  site = await start();
});
after(() => site.stop());

/** The text of the drawn boxes, with their ids. */
const drawn = (page) =>
  page.locator(".tok").evaluateAll((all) =>
    all.map((e) => ({
      ids: e.title.split(":")[0],
      text: [...e.childNodes]
        .filter((n) => n.nodeType === 3)
        .map((n) => n.data)
        .join(""),
    })),
  );

/** The expected boxes. */
function boxes(text, tokenizer) {
  const { ids, ends } = tokenSpans(text, { tokenizer });
  const all = [];
  let [at, some] = [0, []];
  for (const [token, end] of ends.entries()) {
    some.push(ids[token]);
    if (end === at) continue;
    all.push({ ids: some.join(" "), text: text.slice(at, end) });
    [at, some] = [end, []];
  }
  return all;
}

const written = (page) => page.getByRole("textbox", { name: "Text" });
const ready = async (page) => {
  await showPane(page, "Tokens");
  await page.locator(".tok:not(.plain)").first().waitFor();
};
const on = (hash, steps, options) =>
  visit(
    site,
    hash,
    async (page) => {
      await agreeing(page);
      await ready(page);
      await steps(page);
    },
    options,
  );

describe("tokens", () => {
  it("each sample is drawn token by token, with its figures", async () => {
    await on("#/tokens", async (page) => {
      for (const name of ["English", "Code", "Chinese", "Emoji", "Markdown"]) {
        await page.getByRole("radio", { name }).click({ force: true });
        const text = await eventually(async () => {
          const text = await written(page).inputValue();
          assert.deepEqual(await drawn(page), boxes(text, "o200k_base"), name);
          return text;
        });
        const { ids } = tokenSpans(text, { tokenizer: "o200k_base" });
        await eventually(async () => {
          assert.equal(number(await page.locator('[data-figure="total"]').textContent()), ids.length);
          assert.equal(number(await page.locator('[data-figure="characters"]').textContent()), text.length);
        });
      }
    });
  });

  it("every vocabulary of the package is fetched when it is chosen", async () => {
    await on("#/tokens", async (page) => {
      await written(page).fill("Woven today: 🧵 漢字 12345\nlast line");
      for (const name of ["cl100k_base", "o200k_harmony", "p50k_base", "p50k_edit", "r50k_base", "gpt2"]) {
        await page.getByLabel("Tokenizer", { exact: true }).selectOption(name);
        await eventually(async () =>
          assert.deepEqual(await drawn(page), boxes("Woven today: 🧵 漢字 12345\nlast line", name), name),
        );
      }
      await page.getByLabel("Tokenizer", { exact: true }).selectOption("claude");
      await page.getByText("Estimates have no tokens").waitFor();
    });
  });

  it("a dropped tokenizer.json is used, and restored after a reload", async () => {
    await on("#/tokens", async (page) => {
      await written(page).fill("the the abc");
      assert.ok(await drop(page, "mine.json", JSON.stringify(tokenizerFile)), "the browser does not leave the page");
      const own = async () =>
        assert.deepEqual(
          (await drawn(page)).map(({ ids }) => Number(ids)),
          [257, 258, 32, 261],
        );
      await eventually(own);
      await eventually(async () =>
        assert.equal(await written(page).inputValue(), "the the abc", "the text is unchanged"),
      );
      await page.getByText("Kept in this browser").waitFor();
      await page.reload();
      await eventually(own);
      await drop(
        page,
        "unigram.json",
        JSON.stringify({ ...tokenizerFile, model: { ...tokenizerFile.model, type: "Unigram" } }),
      );
      await page
        .getByRole("alert")
        .getByText(/Unigram/)
        .waitFor();
      await page.getByRole("button", { name: "Remove", exact: true }).click();
      await eventually(async () => assert.deepEqual(await drawn(page), boxes("the the abc", "o200k_base")));
    });
  });

  it("stored vocabularies are kept when another one is dropped before they are loaded, whatever its name", async () => {
    const mine = (page) => page.getByLabel("Tokenizer", { exact: true }).locator("optgroup[label^=Yours] option");
    const names = async (page) => (await mine(page).allTextContents()).toSorted();
    /** Without one of its merges the tokenizer is a different one. */
    const other = (less) => {
      const { model, ...rest } = tokenizerFile;
      return JSON.stringify({ ...rest, model: { ...model, merges: model.merges.slice(0, -less || undefined) } });
    };
    await on("#/tokens", async (page) => {
      await drop(page, "mine.json", other(0));
      await eventually(async () => assert.deepEqual(await names(page), ["mine"]));
      await page.reload();
      await eventually(async () => assert.deepEqual(await names(page), ["mine"], "it is stored"));
      // Stored vocabularies are read, but delayed.
      await page.addInitScript(() => {
        const { get } = IDBObjectStore.prototype;
        const held = new Promise((letGo) => (globalThis.letGo = letGo));
        IDBObjectStore.prototype.get = function (key) {
          if (key === "tokens/vocabularies") {
            Object.defineProperty(this.transaction, "oncomplete", {
              set(then) {
                this.addEventListener("complete", () => {
                  globalThis.wasRead = true;
                  void held.then(then);
                });
              },
            });
          }
          return get.call(this, key);
        };
      });
      await page.reload();
      await page.waitForFunction(() => globalThis.wasRead);
      await drop(page, "mine.json", other(1));
      await drop(page, "third.json", other(2));
      // The page has had time to load them.
      await page.waitForTimeout(500);
      await page.evaluate(() => globalThis.letGo());
      const all = ["mine", "mine 2", "third"];
      await eventually(async () => assert.deepEqual(await names(page), all));
      await page.addInitScript(() => globalThis.letGo());
      await page.reload();
      await eventually(async () => assert.deepEqual(await names(page), all, "all are stored"));
    });
  });

  it("ids are shown below tokens, and can be copied", async () => {
    await on("#/tokens", async (page) => {
      await page.getByRole("checkbox", { name: "Numbers" }).check();
      const text = await written(page).inputValue();
      const expected = boxes(text, "o200k_base").map(({ ids }) => ids);
      await eventually(async () =>
        assert.deepEqual(
          await page.locator("[data-ids]").evaluateAll((all) => all.map((e) => e.dataset.ids)),
          expected,
        ),
      );
      await page.getByRole("button", { name: "Copy numbers" }).click();
      await eventually(async () =>
        assert.equal(
          await page.evaluate(() => navigator.clipboard.readText()),
          JSON.stringify([...tokenSpans(text, { tokenizer: "o200k_base" }).ids]),
        ),
      );
      await page.getByRole("radio", { name: "Heat" }).click({ force: true });
      await page.locator(".by-heat").waitFor();
      await page.screenshot({ path: join(screenshots, "tokens-heat-ids.png") });
      assert.deepEqual(await findings(page), []);
    });
  });

  it("a cut is marked at its position", async () => {
    await on("#/tokens?shown=cut", async (page) => {
      const text = await written(page).inputValue();
      for (const side of ["end", "start", "middle"]) {
        for (const boundary of ["token", "word", "sentence"]) {
          await page.getByLabel("Remove").selectOption(side);
          await page.getByLabel("Where to cut").selectOption(boundary);
          await page.getByLabel("Tokens to keep", { exact: true }).fill("50");
          const options = { tokenizer: "o200k_base", side, boundary, marker: "[…]" };
          const left = truncateText(text, 50, options);
          await eventually(async () => {
            const shown = await page.locator(".token-block > *").evaluateAll((all) =>
              all
                .filter((e) => !e.classList.contains("cut"))
                .map((e) =>
                  [...e.childNodes]
                    .filter((n) => n.nodeType === 3)
                    .map((n) => n.data)
                    .join(""),
                )
                .join(""),
            );
            assert.equal(shown, left.text, `${side} ${boundary}`);
          });
          await page.getByText(`${left.tokens} of`).waitFor();
        }
      }
      await page.screenshot({ path: join(screenshots, "tokens-cut.png") });
      assert.deepEqual(await findings(page), []);
    });
  });

  it("the beginnings of pieces and their overlaps are marked", async () => {
    await on("#/tokens?shown=split&piece=40", async (page) => {
      await page.getByRole("radio", { name: "Markdown" }).click({ force: true });
      await page.getByLabel("Tokens per piece", { exact: true }).fill("40");
      for (const [overlap, markdown] of [
        [0, false],
        [10, false],
        [0, true],
      ]) {
        await page.getByLabel("Overlap").fill(String(overlap));
        await page.getByRole("checkbox", { name: "Markdown" }).setChecked(markdown);
        const text = await written(page).inputValue();
        const pieces = splitText(text, { tokenizer: "o200k_base", maxTokens: 40, overlap, markdown });
        await eventually(async () => {
          const starts = await page.locator("[data-mark]").evaluateAll((all) => all.map((e) => Number(e.dataset.mark)));
          assert.deepEqual(
            starts,
            pieces.map(({ start }) => start),
          );
        });
        const twice = pieces.reduce(
          (sum, { start }, at) => sum + Math.max(0, (pieces[at - 1]?.end ?? start) - start),
          0,
        );
        const shown = await page
          .locator(".tok.overlap")
          .evaluateAll((all) =>
            all.reduce(
              (sum, e) =>
                sum + [...e.childNodes].filter((n) => n.nodeType === 3).reduce((s, n) => s + n.data.length, 0),
              0,
            ),
          );
        assert.equal(shown, twice);
      }
      await page.screenshot({ path: join(screenshots, "tokens-split.png") });
      await page.getByLabel("Overlap").fill("39");
      await page
        .getByRole("alert")
        .getByText(/overlap/i)
        .waitFor();
      assert.deepEqual(await findings(page), []);
    });
  });

  it("is kept over a reload, undone, and carried by a link with its settings", async () => {
    let link;
    await on("#/tokens?tokenizer=cl100k_base&shown=cut&limit=3", async (page) => {
      await written(page).fill("A text of mine, to be cut");
      await page.getByText("Kept in this browser").waitFor();
      await page.getByRole("radio", { name: "Code" }).click({ force: true });
      // Any later action may replace it.
      await page.getByRole("tab", { name: "Cut" }).click();
      await eventually(async () => assert.match(await written(page).inputValue(), /^export function/));
      await page.getByRole("button", { name: "Undo" }).click();
      await eventually(async () => assert.equal(await written(page).inputValue(), "A text of mine, to be cut"));
      await page.getByLabel("Tokens to keep", { exact: true }).fill("3");
      link = await ownLink(page);
    });
    const { page, close } = await openPage(site, link.slice(link.indexOf("#")));
    await eventually(async () => assert.equal(await written(page).inputValue(), "A text of mine, to be cut"));
    await eventually(async () => {
      assert.equal(await page.getByLabel("Tokenizer", { exact: true }).inputValue(), "cl100k_base");
      assert.equal(await page.getByLabel("Tokens to keep", { exact: true }).inputValue(), "3");
    });
    await close();
  });

  it("a megabyte is usable: few boxes are rendered, before and after a key", async () => {
    await on("#/tokens", async (page) => {
      const line = "The loom was warped on a Tuesday, 漢字 and 🧵, forty threads to the inch.\n";
      await drop(page, "long.txt", line.repeat(Math.ceil(1e6 / line.length)));
      await eventually(async () =>
        assert.ok(number(await page.locator('[data-figure="characters"]').textContent()) > 1e6),
      );
      await eventually(async () =>
        assert.ok((await page.locator(".tok").count()) < 6000, "only visible blocks are rendered"),
      );
      const scroller = page.locator(".token-text");
      await scroller.evaluate((e) => (e.scrollTop = e.scrollHeight));
      await eventually(async () => assert.match(await page.locator(".token-block").last().textContent(), /inch\./));
      await page.locator(".heat-map").click({ position: { x: 5, y: 100 } });
      // The map leads to another part of the text.
      await eventually(async () =>
        assert.doesNotMatch(await page.locator(".text-parts output").textContent(), /^Part 1 of/),
      );
      await page.getByRole("slider", { name: "Part of the text" }).press("Home");
      const field = page.locator("textarea").first();
      await eventually(async () => assert.match(await field.inputValue(), /^The loom/));
      await field.evaluate((e) => (e.focus(), e.setSelectionRange(0, 0)));
      await page.keyboard.press("Z");
      await eventually(async () => assert.match(await field.inputValue(), /^ZThe loom/));
      await eventually(async () => {
        // The click on the map may still be in progress.
        await scroller.evaluate((e) => (e.scrollTop = 0));
        assert.match(await page.locator(".token-block").first().textContent(), /^ZThe/);
      });
      assert.ok((await page.locator(".tok").count()) < 6000, "a key renders no more boxes");
      await page.screenshot({ path: join(screenshots, "tokens-long.png") });
    });
  });

  it("works by keyboard", async () => {
    await on("#/tokens", async (page) => {
      await page.getByRole("tab", { name: "Tokens" }).focus();
      await page.keyboard.press("ArrowRight");
      await page.getByLabel("Remove").waitFor();
      await page.keyboard.press("ArrowRight");
      await page.getByLabel("Overlap").waitFor();
      for (let key = 0; key < 20; key++) {
        await page.keyboard.press("Tab");
        if (await page.locator(".token-text").evaluate((e) => e === document.activeElement)) return;
      }
      assert.fail("the text is not reached");
    });
  });

  for (const { size: name, width, height, colorScheme } of LOOKS) {
    it(`looks right: ${name}, ${colorScheme}`, async () => {
      await on(
        "#/tokens",
        async (page) => {
          // On a small screen one pane is shown at a time.
          for (const pane of width < 400 ? ["Text", "Tokens"] : [""]) {
            if (pane) await showPane(page, pane);
            await fitsAcross(page);
            const file = `tokens-${name}-${colorScheme}${pane && `-${pane.toLowerCase()}`}.png`;
            await page.screenshot({ path: join(screenshots, file) });
            assert.deepEqual(await findings(page), []);
          }
        },
        { width, height, colorScheme },
      );
    });
  }
});
