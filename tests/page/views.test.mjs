// What the views offer: their names and purposes, a task's run, the files of each agent, a session to read, and code
// that prints the request.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { init, loadAgentFiles } from "ctxweave/folders";
import { init as initOperators, parseTask, runTask } from "ctxweave/operators";
import { findings } from "./axe.mjs";
import {
  choose,
  chooseTab,
  drop,
  eventually,
  fitsAcross,
  LOOKS,
  screenshots,
  showPane,
  start,
  viewList,
  visit,
  visitChat,
} from "./harness.mjs";
import { anthropic, gemini, openai, responses } from "./requests.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
// Inside the repository, so that `ctxweave` resolves as in a user's project.
const programs = join(root, "target", "page", "view-programs");

let site;
before(async () => {
  await Promise.all([init(), initOperators()]);
  site = await start();
});
after(async () => {
  await site.stop();
  await rm(programs, { recursive: true, force: true });
});

/** Checks a view at all sizes and in both themes, with a screenshot of each. */
function looks(name, hash, prepare) {
  for (const look of LOOKS) {
    it(`${name} looks right: ${look.size}, ${look.colorScheme}`, async () => {
      await visit(
        site,
        hash,
        async (page) => {
          await prepare(page);
          await page.screenshot({ path: join(screenshots, `${name}-${look.size}-${look.colorScheme}.png`) });
          assert.deepEqual(await findings(page), []);
          await fitsAcross(page);
        },
        look,
      );
    });
  }
}

describe("the views", () => {
  it("have a line on Start, and all are visible in the navigation of a phone", async () => {
    const views = await viewList();
    await visit(
      site,
      "#/start",
      async (page) => {
        for (const { id, name, purpose } of views) {
          const link = page.getByRole("navigation", { name: "Views" }).getByRole("link", { name, exact: true });
          const { x, width } = await link.boundingBox();
          assert.ok(x >= 0 && x + width <= 390, `${name}: ${x} + ${width}`);
          if (id === "start") continue;
          const line = page.getByRole("list", { name: "What each view is for" }).getByText(purpose);
          await line.waitFor();
          assert.ok(purpose.length < 90, purpose);
        }
      },
      { width: 390, height: 844 },
    );
  });

  looks("start-views", "#/start", (page) => page.locator("[data-money]").waitFor());
});

describe("task templates", () => {
  const run = async (page) => {
    await showPane(page, "Assembly");
    await choose(page.getByRole("radio", { name: "Whole task" }));
    await page.getByRole("button", { name: "Run the task" }).click();
    await page.locator("[data-run]").waitFor();
  };

  it("a task runs with a stub of a model; each step has the context of runTask", async () => {
    await visit(site, "#/operators", async (page) => {
      await page.getByText("Write the report of the week").first().waitFor();
      await run(page);
      const xml = await page.getByLabel("Task template, XML").inputValue();
      const calls = [];
      const { output } = await runTask(
        { task: parseTask(xml).task, parentContext: "The team has three people. The release is on Friday." },
        {
          memory: async () => ({
            context: "Last week's report was too long.",
            matches: [
              ["reports/last-week.md", null],
              ["team.md", null],
            ],
          }),
          model: async (call) => {
            calls.push(call);
            return { output: `Output of ${call.id}.`, notes: `Notes of ${call.id}.` };
          },
        },
      );
      const steps = page.locator("[data-step]");
      assert.equal(await steps.count(), 3);
      for (const [at, { path, context }] of calls.entries()) {
        const step = steps.nth(at);
        assert.equal(await step.getAttribute("data-step"), path);
        for (const part of ["inherited", "accumulated", "fresh"]) {
          const shown = await step.locator(`[data-part="${part}"]`).allTextContents();
          assert.deepEqual(shown, context[part] === undefined ? [] : [context[part]], `${path}, ${part}`);
        }
      }
      assert.equal(await page.getByLabel("Output of the task").textContent(), output);
      assert.equal(await page.locator("[data-run]").getAttribute("data-run"), "done");
      await page.getByLabel("Task template, XML").fill(xml.replace("Draft the report", "Write a draft"));
      await page.getByText("run it again").waitFor();
    });
  });

  it("a reduction runs for each input", async () => {
    await visit(site, "#/operators", async (page) => {
      await choose(page.getByRole("radio", { name: "Reduce" }));
      await page.getByText("Sum up all inputs").first().waitFor();
      await run(page);
      assert.equal(await page.locator("[data-step]").count(), 3);
      await page.getByText("The second input.").first().waitFor();
    });
  });

  looks("run", "#/operators", run);
});

describe("agent files", () => {
  const FILES = {
    "AGENTS.md": "# Root\nUse tabs.",
    "CLAUDE.md": "# For Claude\nBe brief.",
    "GEMINI.md": "# For Gemini",
    "api/AGENTS.md": "# API",
    ".claude/rules/api.md": '---\npaths: "api/**"\n---\nNo globals.',
    "src/index.ts": "export {};",
  };
  const open = async (page) => {
    const files = Object.entries(FILES).map(([path, content]) => ({ path: `repo/${path}`, content }));
    await page.evaluate((files) => {
      const handle = (name, under) => ({
        kind: "directory",
        name,
        async *values() {
          const here = files.filter(({ path }) => path.startsWith(under));
          const names = new Set(here.map(({ path }) => path.slice(under.length).split("/")[0]));
          for (const name of names) {
            const file = here.find(({ path }) => path === under + name);
            if (file) yield { kind: "file", name, getFile: async () => new File([file.content], name) };
            else yield handle(name, `${under}${name}/`);
          }
        },
      });
      globalThis.showDirectoryPicker = async () => handle("repo", "repo/");
    }, files);
    await page.getByRole("button", { name: "Open a folder…" }).click();
    await page.locator(".about strong").getByText("repo", { exact: true }).waitFor();
    await showPane(page, "Prompt");
    await chooseTab(page, "Agents");
    await page.locator("[data-agent-file]").first().waitFor();
  };

  it("show what each agent loads, side by side, like loadAgentFiles", async () => {
    await visit(site, "#/folders", async (page) => {
      await open(page);
      await page.getByLabel("Agents start in").selectOption("api");
      const look = (path) => {
        const file = FILES[path.replace(/^\/r\//, "")];
        if (file !== undefined) return file;
        const under = `${path}/`.replace("//", "/");
        const all = [...Object.keys(FILES).map((name) => `/r/${name}`), "/r/.git/HEAD"];
        const entries = all
          .filter((name) => name.startsWith(under))
          .map((name) => name.slice(under.length).split("/")[0]);
        return entries.length > 0 ? { entries: [...new Set(entries)] } : null;
      };
      for (const agent of ["claude-code", "codex", "gemini-cli", "opencode", "copilot-cli"]) {
        const chain = await loadAgentFiles({ agent, cwd: "/r/api" }, look);
        const expected = chain.pieces.map(({ path }) => path.slice("/r/".length));
        await eventually(async () => {
          const shown = await page.locator(`td[data-agent="${agent}"][data-place]`).evaluateAll((all) =>
            all
              .map((cell) => [Number(cell.dataset.place), cell.closest("tr").dataset.agentFile])
              .sort(([one], [other]) => one - other)
              .map(([, path]) => path),
          );
          assert.deepEqual(shown, expected, agent);
        });
        await page.getByRole("button", { name: agent, exact: true }).click();
        const texts = page.locator("[data-agent-message]");
        await eventually(async () =>
          assert.deepEqual(
            (await texts.allTextContents()).map((text) => text.replaceAll("/repository", "/r")),
            chain.messages.map(({ text }) => text),
          ),
        );
      }
      // A rule is loaded after an access to a path that it is for.
      await page.getByLabel("Then read the file").fill("api/x.ts");
      await page.keyboard.press("Tab");
      await page.locator('[data-agent-file=".claude/rules/api.md"] td[data-agent="claude-code"][data-place]').waitFor();
    });
  });

  looks("agents", "#/folders", open);
});

describe("a session", () => {
  const long = "A long answer. ".repeat(200);
  const SESSION = [
    { role: "system", content: "You keep the tide table." },
    { role: "user", content: "When is high tide?" },
    { role: "assistant", content: long },
  ];
  const jsonl = SESSION.map((message) => JSON.stringify(message)).join("\n");
  const open = async (page) => {
    await drop(page, "session.jsonl", jsonl);
    await page.locator(".said").getByText("You keep the tide table.").waitFor();
  };

  it("and a tree say which overhead their numbers include, because other views count it differently", async () => {
    await visit(site, "#/commits", async (page) => {
      await open(page);
      assert.match(await page.locator("[data-tier]").textContent(), /of content without the overhead of a request/);
    });
    await visit(site, "#/loom?tree=agent", (page) => page.getByText("overhead: 4 a message, 3 a request").waitFor());
    await visit(site, "#/chats", async (page) => {
      const row = page.locator('[data-item="overhead"]');
      assert.match(await row.textContent(), /3 tokens and the role of each message, 3 of the request/);
    });
  });

  it("shows its system message; long messages fold, and each can be copied", async () => {
    await visit(site, "#/commits", async (page) => {
      await open(page);
      const row = page.locator('[data-role="system"]');
      assert.match(await row.textContent(), /You keep the tide table\./);
      const answer = page.locator('.said [data-role="assistant"]');
      assert.ok((await answer.locator("p").textContent()).length < 1000);
      await answer.getByRole("button", { name: /^Show all/ }).click();
      await eventually(async () => assert.equal(await answer.locator("p").textContent(), long));
      await answer.getByRole("button", { name: "Copy message" }).click();
      await eventually(async () => assert.equal(await page.evaluate(() => navigator.clipboard.readText()), long));
      await answer.getByRole("button", { name: "Fold" }).click();
      await eventually(async () => assert.ok((await answer.locator("p").textContent()).length < 1000));
    });
  });

  looks("session", "#/commits", async (page) => {
    await showPane(page, "Result");
    await drop(page, "session.jsonl", jsonl);
    await page.locator(".said").getByText("You keep the tide table.").waitFor();
  });
});

describe("copy as code", () => {
  for (const [name, body] of Object.entries({ anthropic, openai, responses, gemini })) {
    for (const as of ["", "anthropic", "gemini"]) {
      it(`${name}${as && ` as ${as}`}: the program prints what the JSON tab shows`, async () => {
        await visitChat(site, body(), "JSON", async (page) => {
          if (body().model?.startsWith("gpt")) await page.locator('[data-counts="exact"]').waitFor();
          await page.getByLabel("Result as").selectOption(as);
          await page.getByRole("button", { name: "Copy as code" }).click();
          const dialog = page.getByRole("dialog", { name: "This view as code" });
          const folder = join(programs, `${name}-${as}`);
          await mkdir(folder, { recursive: true });
          await writeFile(join(folder, "main.mjs"), await dialog.locator('[data-code="javascript"]').textContent());
          for (const file of await dialog.locator("[data-file-of-code]").all()) {
            const [saved] = await Promise.all([page.waitForEvent("download"), file.click()]);
            await saved.saveAs(join(folder, await file.getAttribute("data-file-of-code")));
          }
          await dialog.getByRole("button", { name: "Close" }).click();
          const { stdout } = await promisify(execFile)(process.execPath, ["main.mjs"], { cwd: folder });
          await eventually(async () =>
            assert.deepEqual(
              JSON.parse(stdout),
              JSON.parse(await page.locator('[data-json="messages"]').textContent()),
            ),
          );
        });
      });
    }
  }
});
