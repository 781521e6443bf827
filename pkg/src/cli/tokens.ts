/** `ctxweave tokens`: counts texts and chats, and cuts or splits a text. */

import type { CountMessagesOptions } from "../types/chat.js";
import { count, flag, text } from "./arguments.js";
import { isEstimate, openArea, tokenizerOf, tokenizerOption } from "./areas.js";
import { command, type Outcome } from "./command.js";
import { exits, Failure, misused } from "./failure.js";
import { given, type Input, input, jsonOf, otherEncodingOf, textOf } from "./input.js";
import type { Line } from "./output.js";
import { counted, grouped, json } from "./report.js";

export const tokens = command({
  name: "tokens",
  summary: "count the tokens of texts and chats; cut or split a text",
  usage: "[FILE...] [options]",
  about: `The output is the number of tokens of each FILE, and their sum for several. It is an estimate by default, and exact
    with \`--tokenizer o200k_base\` or \`--model gpt-4o\`.`,
  options: {
    tokenizer: tokenizerOption,
    model: text("NAME", "count with the tokenizer of this model"),
    chat: flag("count chats in any provider's format, with roles, calls and overhead"),
    limit: count("N", "exit code 5 if a file has more tokens"),
    truncate: count("N", "write the beginning of the text, at most N tokens"),
    split: count("N", "write pieces of at most N tokens, as JSON"),
    ids: flag("write the token ids, as JSON; default tokenizer `o200k_base`"),
  },
  examples: [
    { description: "an estimate", line: "npx ctxweave tokens notes.md" },
    {
      description: "exact counts of several files, and their sum",
      line: "npx ctxweave tokens --tokenizer o200k_base notes.md chat.json",
    },
    { description: "the cost of a chat for gpt-4o", line: "npx ctxweave tokens --chat --model gpt-4o chat.json" },
    { description: "a check for a script", line: "npx ctxweave tokens --limit 8000 notes.md && echo fits" },
    { description: "the first 50 tokens", line: "cat notes.md | npx ctxweave tokens --truncate 50" },
    { description: "pieces of 100 tokens, for an index", line: "npx ctxweave tokens --split 100 notes.md" },
    { description: "token ids", line: "echo hello | npx ctxweave tokens --ids --tokenizer cl100k_base" },
  ],
  async run(values, operands, { progress }): Promise<Outcome> {
    const { chat, limit, truncate, split, ids, model } = values;
    const jobs = [truncate, split, ids || undefined].filter((job) => job !== undefined).length;
    if (jobs > 1) throw misused("`--truncate`, `--split` and `--ids` exclude each other; give one");
    const files = operands.length > 0 ? operands : ["-"];
    if (jobs === 1 && files.length > 1) throw misused("`--truncate`, `--split` and `--ids` take one file");
    const tokenizer = values.tokenizer ?? (model === undefined ? undefined : await modelTokenizer(model));
    if (jobs === 1) return ofOne(await input(files[0] ?? "-"), { truncate, split }, tokenizer);

    const rows: { file: string; tokens: number }[] = [];
    const counter = chat ? await chatCounter(tokenizer, model) : await textCounter(tokenizer);
    const lines: Line[] = [];
    let failure: Failure | undefined;
    for (const file of files) {
      progress(`${rows.length} of ${files.length}: ${file}`);
      try {
        const read = await input(file);
        rows.push({ file: read.name, tokens: counter(read) });
        const encoding = otherEncodingOf(read);
        if (encoding) lines.push([["warning", `${read.name} is ${encoding}`], "; convert it to UTF-8 and count again"]);
      } catch (error) {
        // The other files are counted.
        if (files.length === 1 || !(error instanceof Failure)) throw error;
        failure ??= error;
        lines.push([["error", error.message]]);
      }
    }
    if (failure && rows.length === 0) throw failure;
    const isEstimated = isEstimate(tokenizer);
    const total = rows.reduce((sum, row) => sum + row.tokens, 0);
    const over = limit === undefined ? [] : rows.filter((row) => row.tokens > limit);
    return {
      result: table(rows, total, files.length === 1),
      named: { files: rows, total },
      report: { tokenizer: tokenizer ?? "heuristic", estimated: isEstimated },
      lines: [
        ...lines,
        ...(isEstimated ? [estimateLine(tokenizer)] : []),
        ...over.map(({ file, tokens }): Line => [
          ["error", `${file} has ${counted(tokens, "token")}${isEstimated ? " (estimated)" : ""}`],
          `, ${grouped(tokens - (limit ?? 0))} more than ${grouped(limit ?? 0)}`,
        ]),
      ],
      exit: failure?.exit ?? (over.length > 0 ? exits.limit : exits.done),
    };
  },
});

async function modelTokenizer(model: string): Promise<string> {
  const tokenizer = await tokenizerOf(model);
  if (tokenizer === undefined) throw misused(`unknown model \`${model}\`; give \`--tokenizer NAME\``);
  return tokenizer;
}

async function textCounter(wanted: string | undefined): Promise<(input: Input) => number> {
  const { area, tokenizer } = await openArea("tokens", wanted);
  return (input) => area.countTokens(textOf(input), given({ tokenizer }));
}

async function chatCounter(wanted: string | undefined, model?: string): Promise<(input: Input) => number> {
  const { area, tokenizer } = await openArea("chat", wanted);
  const options = given({ tokenizer, model }) satisfies CountMessagesOptions;
  return (input) => area.countChatTokens(jsonOf(input) as object[], options);
}

/** How the numbers were found, if they are not exact. */
function estimateLine(tokenizer: string | undefined): Line {
  return [["faint", `estimated: ${tokenizer ?? "heuristic"}`]];
}

/** One number if a single file was asked for, else a column like that of `wc`. */
function table(rows: readonly { file: string; tokens: number }[], total: number, isSingle: boolean): string {
  if (isSingle) return `${total}\n`;
  const all = [...rows, { file: "total", tokens: total }];
  const width = String(total).length;
  return all.map(({ file, tokens }) => `${String(tokens).padStart(width)} ${file}\n`).join("");
}

async function ofOne(
  read: Input,
  { truncate, split }: { truncate: number | undefined; split: number | undefined },
  wanted: string | undefined,
): Promise<Outcome> {
  const text = textOf(read);
  if (truncate === undefined && split === undefined) {
    const { area, tokenizer = "o200k_base" } = await openArea("tokens", wanted ?? "o200k_base");
    const ids = [...area.encodeTokens(text, { tokenizer })];
    return outcome(`${JSON.stringify(ids)}\n`, { ids }, counted(ids.length, "token"));
  }
  // What cuts texts is among all areas alone.
  const { area, tokenizer } = await openArea("all", wanted);
  const about = isEstimate(wanted) ? " (estimated)" : "";
  if (truncate !== undefined) {
    const cut = area.truncateText(text, truncate, given({ tokenizer }));
    return outcome(
      cut.text,
      cut,
      `${counted(cut.tokens, "token")}${about}${cut.truncated ? ", truncated" : ", complete"}`,
    );
  }
  const markdown = read.name.endsWith(".md");
  const pieces = area.splitText(text, { maxTokens: split ?? 0, markdown, ...given({ tokenizer }) });
  return outcome(json(pieces), { pieces }, `${counted(pieces.length, "piece")}${about && ", token counts estimated"}`);
}

function outcome(result: string, named: object, line: string): Outcome {
  return { result, named: { ...named }, report: {}, lines: [line] };
}
