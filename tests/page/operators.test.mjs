// The Operators view in a real browser, compared with the package's results for the same template in Node.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { beginContextAssembly, explainTask, finishContextAssembly, init, parseTask, writeTask } from "ctxweave";
import { findings } from "./axe.mjs";
import { choose, eventually, fitsAcross, screenshots, showPane, start, visit } from "./harness.mjs";

let site;
before(async () => {
  await init();
  site = await start();
});
after(() => site.stop());

const on = (steps, options) => visit(site, "#/operators", steps, options);

const editor = (page) => page.getByLabel("Task template, XML");
const open = (page, sample) => choose(page.getByRole("radio", { name: sample }));

/** The tree's content for each operator: path and settings, with the origin of each. */
function shown(page) {
  return page
    .locator("[data-operator]")
    .evaluateAll((all) =>
      all.map((entry) => [
        entry.dataset.operator,
        Object.fromEntries(
          [...entry.querySelectorAll("[data-setting]")].map((setting) => [
            setting.dataset.setting,
            [setting.childNodes[2].textContent, setting.classList[1]],
          ]),
        ),
      ]),
    );
}

/** The same from Node. */
function expected(xml, options) {
  return explainTask(parseTask(xml, options).task).map(({ path, contextManagement, origins }) => [
    path,
    Object.fromEntries(
      Object.entries(contextManagement).map(([field, value]) => [field, [String(value), origins[field]]]),
    ),
  ]);
}

const places = (page) =>
  page
    .locator("[data-finding]")
    .evaluateAll((all) =>
      all.map(({ dataset, className }) => `${dataset.finding} ${className.split(" ")[1]} ${dataset.place}`),
    );

/** The text of each underline, in order. */
const underlined = (page) =>
  page.locator("[data-underline]").evaluateAll((all) => all.map((mark) => [mark.textContent, mark.dataset.underline]));

describe("the template", () => {
  for (const sample of ["Report", "Reduce", "Nested", "Mistakes"]) {
    it(`${sample}: every operator with its settings, and every finding`, async () => {
      await on(async (page) => {
        await open(page, sample);
        const xml = await editor(page).inputValue();
        const { diagnostics } = parseTask(xml);
        assert.equal(
          diagnostics.some(({ severity }) => severity === "error"),
          sample === "Mistakes",
        );
        await eventually(async () => assert.deepEqual(await shown(page), expected(xml)));
        await eventually(async () =>
          assert.deepEqual(
            await places(page),
            diagnostics.map(({ code, severity, line, column }) => `${code} ${severity} ${line}:${column}`),
          ),
        );
      });
    });
  }

  it("underlines errors", async () => {
    await on(async (page) => {
      await open(page, "Mistakes");
      const marks = await underlined(page);
      assert.ok(
        marks.some(([text, severity]) => text === "Full" && severity === "error"),
        JSON.stringify(marks),
      );
      assert.ok(marks.some(([text, severity]) => text === "<fresh>" && severity === "warning"));
      // The letters and their underlines overlap exactly.
      const frames = await page.locator(".code-text > *").evaluateAll((all) =>
        all.map((it) => {
          const { x, y, width } = it.getBoundingClientRect();
          const { font, padding, whiteSpace } = getComputedStyle(it);
          return { x, y, width, font, padding, whiteSpace };
        }),
      );
      assert.deepEqual(frames[0], frames[1]);
    });
  });

  it("broken XML is reported and underlined, and can be fixed by typing", async () => {
    await on(async (page) => {
      await editor(page).fill('<task type="atomic">\n  <description>a</descriptiom>\n</task>');
      await page.locator("[data-no-tree]").waitFor();
      await eventually(async () => {
        assert.deepEqual(await places(page), ["invalid_xml error 2:17"]);
        assert.deepEqual(await underlined(page), [["</descriptiom>", "error"]]);
        assert.equal(await editor(page).getAttribute("aria-invalid"), "true");
      });
      await editor(page).fill("<!DOCTYPE task><task/>");
      await eventually(async () => assert.deepEqual(await places(page), ["invalid_xml error 1:1"]));
      await editor(page).fill('<task type="atomic"/>');
      await eventually(async () => assert.deepEqual(await shown(page), expected('<task type="atomic"/>')));
      await eventually(async () => assert.deepEqual(await places(page), []));
    });
  });

  it("a finding leads to its position", async () => {
    await on(async (page) => {
      await open(page, "Mistakes");
      await page.getByRole("button", { name: "4:22, go there" }).click();
      const caret = await editor(page).evaluate((field) => [document.activeElement === field, field.selectionStart]);
      const xml = await editor(page).inputValue();
      assert.deepEqual(caret, [true, xml.indexOf("Full")]);
    });
  });

  it("strict and exclusive match the library", async () => {
    await on(async (page) => {
      await open(page, "Mistakes");
      await choose(page.getByRole("radio", { name: "Strict" }));
      await page.getByRole("checkbox", { name: "Exclusive" }).check();
      const xml = await editor(page).inputValue();
      const { diagnostics } = parseTask(xml, { mode: "strict", exclusive: true });
      await eventually(async () =>
        assert.deepEqual(
          await places(page),
          diagnostics.map(({ code, severity, line, column }) => `${code} ${severity} ${line}:${column}`),
        ),
      );
    });
  });

  it("defaults become explicit", async () => {
    await on(async (page) => {
      await open(page, "Nested");
      const xml = await editor(page).inputValue();
      await page.getByRole("button", { name: "Make defaults explicit" }).click();
      const written = writeTask(parseTask(xml).task);
      await eventually(async () => assert.equal(await editor(page).inputValue(), written));
      await eventually(async () => assert.equal(await page.locator(".setting.default").count(), 0));
    });
  });
});

describe("an assembly", () => {
  const choose = (page, path) => page.locator(`[data-operator="${path}"] > button`).click();
  const part = (page, name) => page.locator(`[data-part="${name}"]`).textContent();

  it("asks the user as the memory system, and shows the result of the answer", async () => {
    await on(async (page) => {
      await choose(page, "task.steps[1]");
      await eventually(async () => assert.equal(await page.locator("[data-assembled]").textContent(), "task.steps[1]"));
      await page.locator('[data-input="parent"]').fill("One. Two.");
      await page.locator('[data-input="read-notes"]').fill("All was read.");
      const { task } = parseTask(await editor(page).inputValue());
      const begun = beginContextAssembly({
        task: task.steps[1],
        parentContext: "One. Two.",
        previousOutputs: [{ step: "read", output: "All that read put out.", notes: "All was read." }],
        accumulation: "notes_only",
      });
      await eventually(async () => assert.equal(await page.locator("[data-question]").textContent(), begun.text));
      await eventually(async () => {
        assert.equal(await page.locator("[data-asked]").getAttribute("data-asked"), "filter");
        assert.equal(await page.locator("[data-result]").count(), 0);
      });
      await page.locator('[data-input="answer"]').fill("Two.");
      await page.locator('[data-input="matches"]').fill("z.md\na.md");
      await page.getByRole("button", { name: "Answer" }).click();
      const result = finishContextAssembly(begun.state, {
        context: "Two.",
        matches: [
          ["z.md", null],
          ["a.md", null],
        ],
      });
      await eventually(async () => {
        assert.equal(await part(page, "inherited"), result.inherited);
        assert.equal(await part(page, "accumulated"), result.accumulated);
        assert.equal(await page.locator('[data-part="fresh"]').count(), 0);
        assert.deepEqual(await page.locator(".matches li").allTextContents(), ["z.md", "a.md"]);
      });
      // A changed question is not answered yet.
      await page.locator('[data-input="parent"]').fill("Three.");
      await eventually(async () => assert.equal(await page.locator("[data-result]").count(), 0));
    });
  });

  it("does not ask if no question is needed", async () => {
    await on(async (page) => {
      await choose(page, "task.steps[2]");
      await page.locator('[data-asked="no"]').waitFor();
      await eventually(async () => {
        assert.equal(await part(page, "accumulated"), "### read\n\nNotes of read.\n\n### draft\n\nNotes of draft.");
        assert.equal(await page.locator('[data-part="inherited"]').count(), 0);
      });
    });
  });

  it("reports missing settings of an unknown type", async () => {
    await on(async (page) => {
      await open(page, "Mistakes");
      await choose(page, "task.steps[1]");
      await eventually(async () =>
        assert.equal(await page.locator("[data-error-code]").textContent(), "missing_setting"),
      );
    });
  });
});

describe("how it looks", () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const [size, width] of Object.entries({ wide: 1440, middling: 1000, narrow: 390 })) {
      it(`${size}, ${colorScheme}`, async () => {
        await on(
          async (page) => {
            await open(page, "Mistakes");
            await page.screenshot({ path: join(screenshots, `operators-mistakes-${size}-${colorScheme}.png`) });
            await open(page, "Report");
            await showPane(page, "Operators");
            await page.locator('[data-operator="task.steps[1]"] > button').click();
            await showPane(page, "Assembly");
            await page.getByRole("button", { name: "Answer" }).click();
            await page.locator("[data-result]").waitFor();
            await page.screenshot({
              path: join(screenshots, `operators-${size}-${colorScheme}.png`),
              fullPage: size === "narrow",
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
