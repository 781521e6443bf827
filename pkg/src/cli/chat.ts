/** `ctxweave chat`: an array of chat messages, fitted or converted. */

import { existsSync } from "node:fs";
import type { ChatFormat, FitOptions, FitReport, FitSettings, FitState } from "../types/chat.js";
import { CtxweaveError } from "../error.js";
import { choice, flag, list, number, text } from "./arguments.js";
import { openArea, tokenizerOf, tokenizerOption } from "./areas.js";
import { command, type Outcome } from "./command.js";
import { misused, unusable } from "./failure.js";
import { given, type Input, isObject, jsonFile, jsonOf, oneInput, textOption } from "./input.js";
import { shorteningOptions, shorteningSettings } from "./fit-options.js";
import { fitLines } from "./fit-report.js";
import { diagnosticLines, json } from "./report.js";

export const formats = [
  "openai",
  "openai-responses",
  "openai-agents",
  "anthropic",
  "gemini",
  "gemini-interactions",
  "ai-sdk",
  "ai-sdk-ui",
  "langchain",
  "generic",
] as const satisfies readonly ChatFormat[];

/** The options that say how much fits. */
export const limitOptions = {
  model: text("NAME", "the limit is that of this model (less what its answer may take), and its tokenizer counts"),
  "max-tokens": number("N", "the limit itself"),
  "context-window": number("N", "what the model takes in; the limit is this less `--token-buffer`"),
  "token-buffer": number("N", "tokens kept free for the answer; default 1024, of a model its output limit"),
  tokenizer: tokenizerOption,
};

export const chat = command({
  name: "chat",
  summary: "fit a chat into its limit, or write it in another format",
  usage: "[FILE] (--model NAME | --max-tokens N | --context-window N) [options]",
  about: `FILE is JSON: an array of messages in the form of OpenAI, Anthropic, Gemini, the AI SDK, LangChain or none, or a
    request that holds one. Old messages are cut until the rest fits; a tool call and its results stay together or go
    together. The same kind of JSON comes out. With \`--to\` it is written in another format; then a limit is optional.`,
  options: {
    ...limitOptions,
    format: choice(formats, "the format, where its shape does not tell"),
    to: choice(formats, "write it in this format"),
    strategy: choice(
      ["truncateMiddle", "rollingWindow", "keepStart", "stopAtLimit"],
      "what is cut; default the middle",
    ),
    "keep-first": number("N", "messages at the beginning that stay"),
    "keep-last": number("N", "messages at the end that `truncateMiddle` protects; default 4"),
    "start-on": list("ROLE", "where something was cut, the rest begins with a message of this role"),
    "end-on": list("ROLE", "the chat ends with a message of this role"),
    marker: text("TEXT", "what stands where messages were cut; `{count}` becomes their number, an empty text is none"),
    tools: text("FILE", "the definitions of the tools, which cost tokens"),
    system: text("TEXT", "the system prompt, where it stands beside the messages; `@FILE` reads it from a file"),
    ...shorteningOptions,
    state: text("FILE", "continue the last fit: FILE has its state, if it exists, and gets that of this one"),
    "cut-to": number("PART", "above the limit, go down to this part of it; default 0.75 with `--state`"),
    "keep-tool-results": number("N", "before messages are cut, clear all tool results but the last N; default 3"),
    "no-edits": flag("clear no tool results"),
    "keep-images": number("N", "before messages are cut, take out all images but the last N"),
    "max-images": number("N", "replace the oldest images by a text, down to N"),
    "max-bytes": number("N", "bytes that the messages may have as JSON; the oldest images are replaced by a text"),
    "drop-reasoning": flag("before messages are cut, take out what the model thought"),
  },
  examples: [
    {
      description: "the same messages, as many as gpt-4o takes",
      line: "npx ctxweave chat chat.json --model gpt-4o > fitted.json",
    },
    {
      description: "at most 300 tokens, counted exactly",
      line: "npx ctxweave chat chat.json --max-tokens 300 --tokenizer o200k_base",
    },
    {
      description: "clear old tool results first",
      line: "npx ctxweave chat run.json --max-tokens 400 --keep-tool-results 1",
    },
    {
      description: "each turn of an agent begins like the last one, for the provider's cache",
      line: "npx ctxweave chat run.json --max-tokens 400 --state run.state.json",
    },
    { description: "a request of OpenAI's as one for Anthropic", line: "npx ctxweave chat chat.json --to anthropic" },
    {
      description: "in a script: the messages to one file, what became of them to another",
      line: "cat chat.json | npx ctxweave chat --max-tokens 300 --out fitted.json --json > report.json",
    },
  ],
  async run(values, operands): Promise<Outcome> {
    const input = await oneInput(operands);
    const messages = jsonOf(input);
    const model = values.model ?? modelOf(messages);
    const hasLimit = (values["max-tokens"] ?? values["context-window"] ?? model) !== undefined;
    if (!hasLimit && values.to === undefined) {
      throw misused("say the limit: `--model NAME`, `--max-tokens N` or `--context-window N`; or `--to FORMAT` alone");
    }
    const wanted = values.tokenizer ?? (model === undefined ? undefined : await tokenizerOf(model));
    const { area, tokenizer } = await openArea("chat", wanted);
    const { fitMessages, convertMessages } = area;
    const toolResults = values["keep-tool-results"];
    const images = values["keep-images"];
    if (values["no-edits"] && (toolResults ?? images) !== undefined) {
      throw misused("`--no-edits` contradicts `--keep-tool-results` and `--keep-images`; leave one out");
    }
    const isCleared = !values["no-edits"] && (values.strategy !== "stopAtLimit" || toolResults !== undefined);
    const edits = given({
      toolResults: isCleared ? { keepLast: toolResults ?? 3 } : undefined,
      images: images === undefined ? undefined : { keepLast: images },
      reasoning: values["drop-reasoning"] ? ({ remove: "all" } as const) : undefined,
    });
    const options: FitSettings = given({
      model: values["max-tokens"] === undefined && values["context-window"] === undefined ? model : values.model,
      maxTokens: values["max-tokens"],
      contextWindow: values["context-window"],
      tokenBuffer: values["token-buffer"],
      tokenizer,
      format: values.format as ChatFormat | undefined,
      truncationStrategy: values.strategy as FitSettings["truncationStrategy"],
      keepFirst: values["keep-first"],
      keepLast: values["keep-last"],
      startOn: values["start-on"].length > 0 ? values["start-on"] : undefined,
      endOn: values["end-on"].length > 0 ? values["end-on"] : undefined,
      truncationMarker: values.marker,
      tools: jsonFile(values.tools),
      system: textOption(values.system),
      ...shorteningSettings(values),
      cutTo: values["cut-to"],
      maxImages: values["max-images"],
      maxBytes: values["max-bytes"],
      edits,
    });
    if (values.state !== undefined) options.previous = stateIn(values.state);
    try {
      const fitted = hasLimit ? fitMessages(messages as object[], options as FitOptions) : undefined;
      const chat = (fitted?.messages ?? messages) as object[];
      const files = fitted && values.state !== undefined ? [{ path: values.state, content: json(fitted.state) }] : [];
      if (values.to === undefined) return { ...outcomeOf(chat, fitted?.report, []), files };
      const from = (fitted?.report.format ?? values.format) as ChatFormat | undefined;
      const { diagnostics, ...converted } = convertMessages(chat, {
        to: values.to as ChatFormat,
        ...(from && { from }),
      });
      const result = converted.system === undefined ? converted.messages : containerOf(values.to, converted);
      return { ...outcomeOf(result, fitted?.report, diagnostics, { to: values.to, diagnostics }), files };
    } catch (error) {
      throw await hinted(error, input);
    }
  },
});

/** The state of the last fit; `null` if there is no such file yet. */
function stateIn(file: string): FitState | null {
  if (!existsSync(file)) return null;
  const state = jsonFile(file);
  if (!isObject(state)) throw unusable(`${file} is no state of a fit: it is written by \`--state\``);
  return state as unknown as FitState;
}

/** The model that a request names. */
function modelOf(messages: unknown): string | undefined {
  return isObject(messages) && typeof messages["model"] === "string" ? messages["model"] : undefined;
}

/** Messages and a system prompt, as the vendor has them next to each other. */
function containerOf(format: string, { messages, system }: { messages: unknown[]; system?: string }): object {
  if (format === "gemini-interactions") return { system_instruction: system, input: messages };
  return format === "gemini"
    ? { systemInstruction: { parts: [{ text: system }] }, contents: messages }
    : { system, messages };
}

/** The error, with what the file seems to be where it is a session of an agent. */
async function hinted(error: unknown, input: Input): Promise<unknown> {
  if (!(error instanceof CtxweaveError && error.code === "invalid_input")) return error;
  const { area } = await openArea("all");
  const found = area.identify(input.bytes);
  if (found.kind !== "session" || found.format === "generic-v1") return error;
  return unusable(
    `${input.name} is a session file (${found.format}): try \`ctxweave session show\` or \`session convert\``,
  );
}

function outcomeOf(
  messages: unknown,
  report: FitReport | undefined,
  diagnostics: FitReport["diagnostics"],
  conversion?: object,
): Outcome {
  return {
    result: json(messages),
    named: { messages },
    report: { ...(report && { report }), ...(conversion && { conversion }) },
    lines: [...(report ? fitLines(report) : []), ...diagnosticLines(diagnostics)],
  };
}
