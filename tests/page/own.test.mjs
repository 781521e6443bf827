// User documents: kept over a reload, a sample and a dropped file, and carried by a link.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { drop, eventually, openPage, ownLink, savedText, screenshots, start, visit } from "./harness.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
let site;
before(async () => {
  site = await start();
});
after(() => site.stop());

const XML = `<task type="atomic" id="mine"><description>Mine</description></task>`;
const CHAT = JSON.stringify([{ role: "user", content: "A chat of mine" }]);
const TREE = JSON.stringify({
  nodes: [{ id: "mine", content: "A tree of mine", authorType: "human" }],
  edges: [],
});

/** For each view: a user's file, the place of its text, a click on a sample, and the sample's content. */
const VIEWS = [
  {
    view: "loom",
    file: ["mine.json", TREE],
    shown: (page) => page.locator(".result-pane").getByText("A tree of mine"),
    sample: (page) => page.getByRole("radio", { name: "Agent" }).click({ force: true }),
    isSample: (page) => page.locator('[data-node="agent-36"]').first(),
  },
  {
    view: "chats",
    file: ["mine.json", CHAT],
    shown: (page) => page.locator(".result-pane").getByText("A chat of mine"),
    sample: (page) => page.getByRole("radio", { name: "Anthropic" }).click({ force: true }),
    isSample: (page) => page.locator('[data-format]:text("anthropic")'),
  },
  {
    view: "workspace",
    file: ["brief.md", "A brief of mine"],
    shown: (page) => page.locator(".result-pane").getByText("A brief of mine"),
    sample: (page) => page.getByRole("button", { name: "Sample" }).click(),
    isSample: (page) => page.locator("[data-truncated]"),
  },
  {
    view: "folders",
    file: ["AGENTS.md", "Instructions of mine"],
    shown: (page) => page.locator(".result-pane").getByText("Instructions of mine"),
    sample: (page) => page.getByRole("button", { name: "Sample vault" }).click(),
    isSample: (page) => page.locator('[data-folder="Areas/taiji"]'),
  },
  {
    view: "operators",
    file: ["mine.xml", XML],
    shown: (page) => page.locator('[data-operator="task"]').getByText("Mine", { exact: true }),
    sample: (page) => page.getByRole("radio", { name: "Reduce" }).click({ force: true }),
    isSample: (page) => page.getByText("Sum up all inputs").first(),
  },
  {
    view: "tokens",
    file: ["mine.txt", "A text of mine"],
    shown: (page) => page.locator(".tok", { hasText: "mine" }),
    sample: (page) => page.getByRole("radio", { name: "Chinese" }).click({ force: true }),
    isSample: (page) => page.locator(".result-pane").getByText("织").first(),
  },
  {
    view: "commits",
    file: ["mine.jsonl", '{"role":"user","content":"A session of mine"}\n'],
    shown: (page) => page.locator(".said").getByText("A session of mine"),
    sample: (page) => page.getByRole("button", { name: "Sample" }).click(),
    isSample: (page) => page.locator(".about strong").getByText("claude-code.jsonl"),
  },
];

const kept = (page) => page.getByText("Kept in this browser");

describe("a user's document", () => {
  for (const { view, file, shown, sample, isSample } of VIEWS) {
    it(`${view}: dropped, kept over a reload, replaced only after confirmation, and restored`, async () => {
      await visit(site, `#/${view}`, async (page) => {
        assert.ok(await drop(page, ...file), "the browser does not leave the page");
        await shown(page).waitFor();
        await kept(page).waitFor();
        await page.reload();
        await shown(page).waitFor();
        await sample(page);
        await page.getByRole("dialog").waitFor();
        if (view === "loom") await page.screenshot({ path: join(screenshots, "own-asked.png") });
        await page.getByRole("button", { name: "Keep mine" }).click();
        await shown(page).waitFor();
        await sample(page);
        await page.getByRole("button", { name: "Replace it" }).click();
        await isSample(page).waitFor();
        await page.getByRole("button", { name: "Undo" }).click();
        await shown(page).waitFor();
        await kept(page).waitFor();
        await page.reload();
        await shown(page).waitFor();
      });
    });

    it(`${view}: a link carries it`, async () => {
      let link;
      await visit(site, `#/${view}`, async (page) => {
        await drop(page, ...file);
        await shown(page).waitFor();
        link = await ownLink(page);
        assert.ok(link.length < 1000, link);
      });
      // A page without it.
      const { page, close } = await openPage(site, link.slice(link.indexOf("#")));
      await shown(page).waitFor();
      await eventually(async () =>
        assert.ok(!page.url().includes("own="), "the document was removed from the address"),
      );
      await close();
    });
  }

  it("reports a document that is too large for a link", async () => {
    await visit(site, "#/chats", async (page) => {
      const noise = Array.from({ length: 40_000 }, () => Math.random().toString(36).slice(2, 4)).join(" ");
      await drop(page, "long.json", JSON.stringify([{ role: "user", content: noise }]));
      await kept(page).waitFor();
      await page.getByRole("button", { name: "Copy link" }).click();
      await page
        .getByText(/Too large for a link: .* the limit is 30 kB/)
        .first()
        .waitFor();
    });
  });

  it("an edited sample is a user's document", async () => {
    await visit(site, "#/operators", async (page) => {
      await page.getByLabel("Task template, XML").fill(XML);
      await page.locator('[data-operator="task"]').getByText("Mine", { exact: true }).waitFor();
      await kept(page).waitFor();
      await page.reload();
      await page.locator('[data-operator="task"]').getByText("Mine", { exact: true }).waitFor();
      await eventually(async () => assert.equal(await page.getByLabel("Task template, XML").inputValue(), XML));
    });
  });
});

describe("addresses", () => {
  it("views do not share parameters, and Back leads from view to view", async () => {
    await visit(site, "#/loom?tree=agent", async (page) => {
      const to = async (name) => {
        await page.getByRole("navigation").getByRole("link", { name }).click();
        await page.locator(".result-pane").waitFor();
      };
      await page.locator('[data-node="agent-36"]').first().waitFor();
      for (const name of [
        "Agent files",
        "Task templates",
        "Sessions",
        "Tokens",
        "Chats",
        "Workspace",
        "Branching conversations",
      ]) {
        await to(name);
        await page.locator("[aria-current=page]").getByText(name).waitFor();
        const own = { "Agent files": ["select", "file"], "Branching conversations": ["tree", "tip"] }[name] ?? [];
        await new Promise((resolve) => setTimeout(resolve, 200));
        await eventually(() => {
          const [, query = ""] = page.url().split("?");
          assert.deepEqual([...new Set(new URLSearchParams(query).keys())], own, name);
        });
      }
      for (const name of [
        "Workspace",
        "Chats",
        "Tokens",
        "Sessions",
        "Task templates",
        "Agent files",
        "Branching conversations",
      ]) {
        await page.goBack();
        await page.locator("[aria-current=page]").getByText(name).waitFor();
      }
    });
  });

  it("Folders follows a changed address", async () => {
    await visit(site, "#/folders", async (page) => {
      await page.locator('[data-folder="Areas/taiji"]').waitFor();
      await page.evaluate(() => (location.hash = "#/folders?select=Projects%2Fparachute&max=150"));
      await eventually(async () => {
        assert.equal(await page.locator('[data-folder="Projects/parachute"]').isChecked(), true);
        assert.equal(await page.locator('[data-folder="Areas/taiji"]').isChecked(), false);
        assert.equal(await page.getByLabel("Maximum tokens").inputValue(), "150");
      });
    });
  });

  it("Back leads to the previous tree", async () => {
    await visit(site, "#/loom?tree=story", async (page) => {
      await page.getByRole("radio", { name: "Agent" }).click({ force: true });
      await page.locator('[data-node="agent-36"]').first().waitFor();
      await eventually(async () => assert.match(page.url(), /tree=agent/));
      await page.goBack();
      await page.locator('[data-node="alice-108"]').first().waitFor();
    });
  });
});

describe("sessions", () => {
  const sessions = join(root, "examples", "sessions");
  const opened = (page, name) => page.locator(".about strong").getByText(name, { exact: true }).waitFor();

  it("a reload restores the chosen branch and the notes", async () => {
    await visit(site, "#/commits", async (page) => {
      await page.locator("#session-file").setInputFiles(join(sessions, "gemini-lines.jsonl"));
      await opened(page, "gemini-lines.jsonl");
      const notes = await page.locator(".notes summary").textContent();
      const first = page.locator("[data-commit]").first();
      await first.click();
      await page.locator('[data-commit][aria-selected="true"]').waitFor();
      const id = await page.locator('[data-commit][aria-selected="true"]').getAttribute("data-commit");
      await page.reload();
      await page.locator(`[data-commit="${id}"][aria-selected="true"]`).waitFor();
      await eventually(async () => assert.equal(await page.locator(".notes summary").textContent(), notes));
    });
  });

  it("a user's session is replaced only after confirmation, and a Loom tree is recognized", async () => {
    await visit(site, "#/commits", async (page) => {
      await page.locator("[data-commit]").first().waitFor();
      assert.ok(await drop(page, "own.jsonl", '{"role":"user","content":"hello"}\n'));
      await opened(page, "own.jsonl");
      await page.getByRole("button", { name: "Sample" }).click();
      await page.getByRole("button", { name: "Keep mine" }).click();
      await opened(page, "own.jsonl");
      // A Loom tree opens in its view; opened as a session it is rejected.
      await page.locator("#session-file").setInputFiles(join(root, "examples", "trees", "agent.json"));
      await page.waitForURL(/#\/loom/);
      await page.getByLabel("Opened as").selectOption("commits");
      await page
        .getByRole("alert")
        .getByText(/this is a Loom tree/)
        .waitFor();
      await opened(page, "own.jsonl");
    });
  });

  it("reports a sample that cannot be fetched", async () => {
    const { page } = await openPage(site, "#/chats");
    await page.route(/claude-code.*\.jsonl/, (route) => route.fulfill({ status: 404, body: "" }));
    await page.goto(`${site.url}#/commits`);
    await page
      .getByRole("alert")
      .getByText(/the sample could not be fetched/)
      .waitFor();
    await page.getByText("No document is open.").waitFor();
    await page.close();
  });

  it("turns can be requested, copied and saved; binary content is not shown as text", async () => {
    await visit(site, "#/commits", async (page) => {
      await page.locator("[data-commit]").first().waitFor();
      await page.getByLabel("As", { exact: true }).selectOption("codex-v1");
      await page.locator('[data-tier="transcode"]').waitFor();
      await page.getByLabel("From another agent").selectOption("render");
      await page.locator('[data-tier="rendering"]').waitFor();
      await page.getByLabel("From another agent").selectOption("transcode");
      await page.locator('[data-tier="transcode"]').waitFor();
      await eventually(async () => assert.ok((await page.locator(".said [data-role]").count()) > 1, "turn by turn"));
      await page.getByRole("tab", { name: "Bytes" }).click();
      const bytes = await page.locator("pre.bytes").textContent();
      await page.getByRole("button", { name: "Copy", exact: true }).click();
      await eventually(async () => assert.equal(await page.evaluate(() => navigator.clipboard.readText()), bytes));
      const [saved] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Save as a file" }).click(),
      ]);
      assert.equal(await savedText(saved), bytes);
      await page.locator("#session-file").setInputFiles(join(sessions, "bureau-agent.cbor"));
      await opened(page, "bureau-agent.cbor");
      await eventually(async () =>
        assert.match(await page.locator("pre.bytes").textContent(), /^000000 {2}[0-9a-f]{2} /),
      );
    });
  });
});
