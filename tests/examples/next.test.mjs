/**
 * examples/next in Chromium: messages of `useChat` go through the route handler, which fits the history. Then the route
 * alone, with messages that have tools, reasoning and files, and with invalid requests.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage, withBrowser } from "../runtimes/browser.mjs";
import { installedExample, served } from "./example.mjs";

test("examples/next fits the history in its route", { timeout: 600_000 }, async () => {
  const example = installedExample("next");
  try {
    await served(example, (address) =>
      withBrowser(async (browser) => {
        // The first request compiles the page, and a form that React does not handle yet would leave it.
        const { page, said } = await openPage(browser, address, { timeout: 240_000 });
        await page.waitForFunction(() =>
          Object.keys(document.forms[0] ?? {}).some((key) => key.startsWith("__reactProps$")),
        );
        const sent = /^(\d+) of (\d+) messages sent, \d+ of 200 tokens$/;
        let counts = [0, 0];
        for (let turn = 1; turn <= 12; turn++) {
          await page.getByLabel("Message").fill(`What happened in night ${turn}, and who was on watch?`);
          await page.getByRole("button", { name: "Send" }).click();
          await page.getByText(` of ${2 * turn - 1} messages sent`).waitFor();
          counts = sent
            .exec(await page.getByRole("status").textContent())
            .slice(1)
            .map(Number);
        }
        assert.equal(counts[1], 23);
        assert.ok(counts[0] > 3 && counts[0] < 20, String(counts));
        await page.getByRole("listitem").nth(23).filter({ hasText: "assistant: I was sent" }).waitFor();
        assert.equal(await page.getByRole("listitem").count(), 24);
        const isOfNext = (line) => /React DevTools|\[HMR\]|\[Fast Refresh\]|WebSocket|was preloaded using/.test(line);
        assert.deepEqual(
          said.filter((line) => !isOfNext(line)),
          [],
        );
        await routeAlone(new URL("/api/chat", address));
      }),
    );
  } finally {
    example.remove();
  }
});

async function routeAlone(route) {
  const post = async (body) => {
    const response = await fetch(route, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
  };
  const message = (id, role, ...parts) => ({ id, role, parts });
  const text = (content) => ({ type: "text", text: content });
  const turns = Array.from({ length: 6 }, (_, turn) => [
    message(`u${turn}`, "user", text(`How is the weather on day ${turn}?`), {
      type: "file",
      mediaType: "text/plain",
      filename: "log.txt",
      url: "data:text/plain;base64,YQ==",
    }),
    message(
      `a${turn}`,
      "assistant",
      { type: "step-start" },
      { type: "reasoning", text: "I look it up.", state: "done" },
      {
        type: "tool-weather",
        toolCallId: `call-${turn}`,
        state: "output-available",
        input: { day: turn },
        output: { sky: "clear ".repeat(20) },
      },
      { type: "step-start" },
      { ...text("Clear."), state: "done" },
    ),
  ]).flat();
  // The fields that the transport of `useChat` adds.
  const sent = { id: "chat", trigger: "submit-message", messageId: "last" };
  const answer = await post({ ...sent, messages: [...turns, message("last", "user", text("And tomorrow?"))] });
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.type, /^text\/event-stream/);
  const [, kept, total] = /"(\d+) of (\d+) messages sent, \d+ of 200 tokens"/.exec(answer.text).map(Number);
  assert.equal(total, 13);
  assert.ok(kept > 0 && kept < 13, String(kept));
  assert.match(answer.text, /I was sent \d+ messages\./);
  const many = [message("last", "user", ...Array.from({ length: 100 }, () => text("word ".repeat(50))))];
  const system = [message("first", "system", text("word ".repeat(1000))), message("last", "user", text("So?"))];
  for (const [status, code, body] of [
    [400, "invalid_input", "{"],
    [400, "invalid_input", "null"],
    [400, "invalid_input", [{ role: "user", content: "no UI message" }]],
    [400, "invalid_input", { ...sent }],
    [400, "invalid_input", { ...sent, messages: [] }],
    [400, "invalid_input", { ...sent, messages: [{ id: "1", role: "user", content: "no parts" }] }],
    [413, "context_too_long", { ...sent, messages: many }],
    [413, "system_context_too_long", { ...sent, messages: system }],
  ]) {
    const answer = await post(body);
    assert.equal(answer.status, status, `${JSON.stringify(body).slice(0, 99)}: ${answer.text}`);
    assert.equal(JSON.parse(answer.text).error.code, code);
  }
}
