// The chat that the package keeps while texts are edited: its counts, parts and fits equal those of the whole request.

import assert from "node:assert/strict";
import { before, it } from "node:test";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const source = (path) => runnerImport(fileURLToPath(new URL(`../../www/src/${path}`, import.meta.url)));
let area;
let resident;
let items;
let mirror;
before(async () => {
  area = await import("ctxweave/chat");
  await area.init();
  [resident, items, mirror] = (
    await Promise.all(["views/chats/resident.ts", "views/chats/items.ts", "ui/mirror.ts"].map(source))
  ).map(({ module }) => module);
});

/** Pseudo-random numbers, always the same. */
function numbers(seed) {
  let state = seed;
  return (below) => Math.floor((below * (state = (state * 48_271) % 2_147_483_647)) / 2_147_483_647);
}

const TOOLS = {
  openai: [{ type: "function", function: { name: "read", description: "Reads.", parameters: { type: "object" } } }],
  anthropic: [{ name: "read", input_schema: { type: "object" } }],
};

function messagesOf(random, text, vendor) {
  const list = [];
  for (let at = 0; at < 3 + random(8); at++) {
    const kind = random(4);
    if (kind === 0) list.push({ role: "user", content: text() });
    else if (kind === 1) list.push({ role: "assistant", content: text() });
    else if (kind === 2)
      list.push({
        role: "user",
        content: [
          { type: "text", text: text() },
          { type: "text", text: text() },
        ],
      });
    else if (vendor === "openai")
      list.push(
        {
          role: "assistant",
          content: text(),
          tool_calls: [{ id: `c${at}`, type: "function", function: { name: "read", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: `c${at}`, content: text() },
      );
    else
      list.push(
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: text(), signature: "s" },
            { type: "tool_use", id: `c${at}`, name: "read", input: {} },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: `c${at}`, content: text() }] },
      );
  }
  return list;
}

/** A request; some have fields that only the whole request is counted with. */
function requestOf(random, text) {
  const vendor = ["openai", "anthropic"][random(2)];
  const messages = messagesOf(random, text, vendor);
  const kind = random(5);
  if (kind === 0) return messages;
  if (kind === 4) return { messages, instructions: text(), max_tokens: 5 };
  if (kind === 1) return { model: "gpt-4o", messages };
  if (kind === 2) return { messages, tools: TOOLS[vendor] };
  return vendor === "anthropic" ? { system: text(), messages } : { instructions: text(), input: messages };
}

/** A copy with one change: mostly of a text. */
function edited(random, text, request) {
  const copy = structuredClone(request);
  const list = copy.messages ?? copy.input ?? copy;
  const place = random(list.length);
  const kind = random(10);
  if (kind === 0) list.push({ role: "user", content: text() });
  else if (kind === 1 && list.length > 1) list.splice(place, 1);
  else if (kind === 2) list[place].role = "user";
  else if (kind === 3 && copy.system) copy.system = text();
  else if (kind === 4) delete copy.tools;
  else if (typeof list[place].content === "string") list[place].content = text();
  else {
    const part = list[place].content[random(list[place].content.length)];
    if ("text" in part) part.text = text();
    else if ("content" in part) part.content = text();
    else if ("thinking" in part) part.thinking = text();
  }
  return copy;
}

const COUNTINGS = [{}, { model: "gpt-4o", tokenizer: "heuristic" }, { model: "claude-sonnet-4-5" }];
const STRATEGIES = ["truncateMiddle", "rollingWindow", "keepStart", "stopAtLimit"];
const attempt = (run) => {
  try {
    return structuredClone(run());
  } catch ({ code, message }) {
    return { code, message };
  }
};

function optionsOf(random, report, counting) {
  const within = random(3) > 0;
  return {
    maxTokens: within ? report.tokens.total + random(50) : Math.max(1, random(report.tokens.total)),
    truncationStrategy: STRATEGIES[random(4)],
    ...(random(2) ? { edits: false } : random(2) ? { edits: { when: "always", toolResults: { keepLast: 0 } } } : {}),
    ...(random(3) ? {} : { pinned: [0] }),
    ...counting,
    format: report.format,
  };
}

it("equals the fit of the whole request after each edit", () => {
  for (let seed = 1; seed < 120; seed++) {
    const random = numbers(seed * 7919);
    const text = () => "wool and yarn ".repeat(random(12)) + ["", "🧶", "x"][random(3)];
    let request = requestOf(random, text);
    let counting = COUNTINGS[random(3)];
    for (let step = 0; step < 12; step++) {
      const found = attempt(() => resident.countChat(request, counting));
      const report = attempt(() => items.countRequest(request, counting));
      const options = { ...counting, format: report.format };
      const expected = report.code ? report : { request, read: items.readMessages(request, options), report };
      if (report.code) assert.deepEqual(found, report);
      else {
        const { read, report: counted } = found;
        assert.deepEqual({ request, read, report: counted }, structuredClone(expected), `${seed}.${step}`);
        const fit = optionsOf(random, report, counting);
        const whole = attempt(() => {
          const { messages, report: all } = area.fitMessages(request, fit);
          return { messages, report: all };
        });
        const live = attempt(() => {
          const { messages, report: all } = resident.fitChat(request, fit);
          return { messages, report: all };
        });
        assert.deepEqual(live, whole, `${seed}.${step}`);
      }
      request = edited(random, text, request);
      if (random(10) === 0) counting = COUNTINGS[random(3)];
    }
  }
});

it("counts an edited text without the others", () => {
  const list = Array.from({ length: 5000 }, (_, at) => ({ role: "user", content: `${at} ${"wool ".repeat(40)}` }));
  const time = (run) => {
    const begun = performance.now();
    run();
    return performance.now() - begun;
  };
  const typed = (at) => list.with(9, { role: "user", content: `wool ${at}` });
  const count = (request) => [items.countRequest(request, {}), items.readMessages(request, { format: "openai" })];
  const whole = Math.min(...[1, 2, 3].map((at) => time(() => count(typed(at)))));
  resident.countChat(typed(0), {});
  resident.countChat(typed(1), {});
  const edit = Math.min(...[2, 3, 4, 5, 6].map((at) => time(() => resident.countChat(typed(at), {}))));
  assert.ok(edit < whole / 5, `${edit} ms, ${whole} ms for the whole chat`);
});

it("sends the changed ranges of lists, from which the page builds the same", () => {
  const random = numbers(5);
  let sent;
  let received;
  for (let step = 0; step < 500; step++) {
    const list = (sent?.list ?? []).toSpliced(random(9), random(3), ...Array(random(3)).fill({ step }));
    const next = { list, ...(random(2) ? { one: step } : {}), same: [1] };
    const update = mirror.updateOf(sent, next);
    received = mirror.updated(received, structuredClone(update));
    sent = next;
    assert.deepEqual(received, sent);
  }
});
