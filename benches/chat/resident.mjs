// A streaming conversation, at each turn and at each delta of a reply: a `Chat`, next to `fitMessages` on the whole
// list.
//
//   node benches/chat/resident.mjs [--quick]

import { readFileSync } from "node:fs";
import { Chat, fitMessages, init } from "ctxweave/chat";
import { load } from "ctxweave/vocab/o200k_base";
import { now } from "../clock.mjs";

await Promise.all([init(), load()]);

const quick = process.argv.includes("--quick");
const rounds = quick ? 1 : 5;
const turns = quick ? 20 : 200;

const words = readFileSync(new URL("../../README.md", import.meta.url), "utf8").split(/\s+/);
const text = (at) => Array.from({ length: 40 }, (_, word) => words[(at * 7 + word * 3) % words.length]).join(" ");

/** Questions and answers; every other answer is a call with its result. */
function message(at) {
  if (at % 4 < 2) return { role: at % 2 ? "assistant" : "user", content: text(at) };
  const id = `c${at - (at % 4)}`;
  const call = { id, type: "function", function: { name: "find", arguments: `{"at":${at}}` } };
  if (at % 4 === 2) return { role: "assistant", content: null, tool_calls: [call] };
  return { role: "tool", tool_call_id: id, content: text(at) };
}

/** Microseconds of CPU time per call, in the best of the rounds. */
function measure(count, begin) {
  let best = Infinity;
  for (let round = 0; round < rounds; round += 1) {
    const run = begin();
    const start = now();
    for (let at = 0; at < count; at += 1) run(at);
    best = Math.min(best, now() - start);
  }
  return (1000 * best) / count;
}

console.log("| messages | tokenizer | limit | | µs |\n| --: | --- | --- | --- | --: |");
for (const tokenizer of ["heuristic", "o200k_base"]) {
  for (const count of quick ? [100] : [100, 1_000, 10_000]) {
    const list = Array.from({ length: count }, (_, at) => message(at));
    const { total } = fitMessages(list, { tokenizer, maxTokens: 1e9 }).report.tokens;
    const filled = (options) => {
      const chat = new Chat(options);
      chat.append(...list);
      chat.fit();
      return chat;
    };
    for (const [limit, maxTokens] of [
      ["none", 1e9],
      ["half", Math.floor(total / 2)],
      ["a tenth", Math.floor(total / 10)],
      ["8,000 tokens", 8000],
    ]) {
      const options = { tokenizer, maxTokens };
      const rolling = { ...options, truncationStrategy: "rollingWindow" };
      const row = (name, us) => console.log(`| ${count} | ${tokenizer} | ${limit} | ${name} | ${us.toFixed(1)} |`);
      // Turns in whole rounds of four, so that no call is open.
      const turn = (options) => () => {
        const chat = filled(options);
        return (at) => {
          for (let more = 0; more < 4; more += 1) chat.append(message(count + 4 * at + more));
          chat.fit();
        };
      };
      row("four messages and a fit", measure(turns, turn(options)));
      row("the same, rolling window", measure(turns, turn(rolling)));
      row(
        "the same, and the rows of the report are read",
        measure(turns, () => {
          const [chat, run] = [
            filled(options),
            (at) => chat.append(...[0, 1, 2, 3].map((more) => message(count + 4 * at + more))),
          ];
          return (at) => (run(at), chat.fit().report.messages.length);
        }),
      );
      row(
        "`fitMessages` of all",
        measure(quick ? 1 : Math.max(5, 20_000 / count), () => () => fitMessages(list, options)),
      );
      if (limit === "half") {
        row(
          "a delta, and `tokens`",
          measure(10 * turns, () => {
            const chat = filled(options);
            chat.append({ role: "assistant", content: "" });
            return (at) => (chat.appendText(` ${words[at % words.length]}`), chat.tokens);
          }),
        );
        row(
          "a delta and a fit",
          measure(turns, () => {
            const chat = filled(options);
            chat.append({ role: "assistant", content: "" });
            return (at) => (chat.appendText(` ${words[at % words.length]}`), chat.fit());
          }),
        );
      }
    }
  }
}
