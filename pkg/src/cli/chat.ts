/** `ctxweave chat`: fits or converts an array of chat messages. */

import { existsSync } from "node:fs";
import type { ChatFormat, FitOptions, FitReport, FitSettings, FitState } from "../types/chat.js";
import { CtxweaveError } from "../error.js";
import { choice, count, flag, list, number, text } from "./arguments.js";
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

/** The options that set the limit. */
export const limitOptions = {
  model: text("NAME", "use the limit and tokenizer of this model"),
  "max-tokens": count("N", "the limit"),
  "context-window": count("N", "context window; the limit is this less `--token-buffer`"),
  "token-buffer": count("N", "tokens reserved for the answer; default: the model's output limit, else 1024"),
  tokenizer: tokenizerOption,
};

export const chat = command({
  name: "chat",
  summary: "fit a chat to a limit, or convert it to another format",
  usage: "[FILE] (--model NAME | --max-tokens N | --to NAME) [options]",
  about: `FILE is JSON: an array of messages in any provider's format, or a request that contains one. Old messages are
    removed until the rest fits. A tool call and its results are kept or removed together. The output has the format of
    the input, or that of \`--to\`. A limit is required except with \`--to\`.`,
  options: {
    ...limitOptions,
    format: choice(formats, "format of the input (default: detected)"),
    to: choice(formats, "format of the output"),
    strategy: choice(
      ["truncateMiddle", "rollingWindow", "keepStart", "stopAtLimit"],
      "truncation strategy (default `truncateMiddle`)",
    ),
    "keep-first": count("N", "messages to keep at the beginning"),
    "keep-last": count("N", "messages or nodes protected at the end; default 4"),
    "start-on": list("ROLE", "role of the first message after a cut"),
    "end-on": list("ROLE", "role of the last message"),
    marker: text("TEXT", "text at the gap, with `{count}` for the number removed; empty: no text"),
    tools: text("FILE", "tool definitions, as JSON"),
    system: text("TEXT", "system prompt; `@FILE` reads a file"),
    ...shorteningOptions,
    state: text("FILE", "continue the last fit: read its state from FILE, then write the new one"),
    "cut-to": number("PART", "over the limit, cut to this fraction of it; default 0.75 with `--state`"),
    "keep-tool-results": count("N", "clear older tool results first, all but N; default 3"),
    "no-edits": flag("never clear tool results"),
    "keep-images": count("N", "remove older images first, all but N"),
    "max-images": count("N", "replace the oldest images by a text, down to N"),
    "max-bytes": count("N", "limit on the messages as JSON, met by replacing the oldest images"),
    "drop-reasoning": flag("remove reasoning first"),
  },
  examples: [
    {
      description: "fit to gpt-4o",
      line: "npx ctxweave chat chat.json --model gpt-4o > fitted.json",
    },
    {
      description: "fit to 300 tokens, counted exactly",
      line: "npx ctxweave chat chat.json --max-tokens 300 --tokenizer o200k_base",
    },
    {
      description: "clear old tool results first",
      line: "npx ctxweave chat run.json --max-tokens 400 --keep-tool-results 1",
    },
    {
      description: "keep the prefix of the last turn, for the provider's cache",
      line: "npx ctxweave chat run.json --max-tokens 400 --state run.state.json",
    },
    { description: "convert from OpenAI to Anthropic", line: "npx ctxweave chat chat.json --to anthropic" },
    {
      description: "messages to one file, report to another",
      line: "npx ctxweave chat --max-tokens 300 --out f.json --json < chat.json > r.json",
    },
  ],
  async run(values, operands): Promise<Outcome> {
    const input = await oneInput(operands);
    const messages = jsonOf(input);
    const model = values.model ?? modelOf(messages);
    const hasLimit = (values["max-tokens"] ?? values["context-window"] ?? model) !== undefined;
    if (!hasLimit && values.to === undefined) {
      throw misused(
        "missing limit; give `--model NAME`, `--max-tokens N` or `--context-window N`, or `--to FORMAT` alone",
      );
    }
    const wanted = values.tokenizer ?? (model === undefined ? undefined : await tokenizerOf(model));
    const { area, tokenizer } = await openArea("chat", wanted);
    const { fitMessages, convertMessages } = area;
    const toolResults = values["keep-tool-results"];
    const images = values["keep-images"];
    if (values["no-edits"] && (toolResults ?? images) !== undefined) {
      throw misused("`--no-edits` excludes `--keep-tool-results` and `--keep-images`; omit one");
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

/** The state of the last fit; `null` if the file does not exist yet. */
function stateIn(file: string): FitState | null {
  if (!existsSync(file)) return null;
  const state = jsonFile(file);
  if (!isObject(state)) throw unusable(`${file} is not the state of a fit; give a file that \`--state\` wrote`);
  return state as unknown as FitState;
}

/** The model of a request. */
function modelOf(messages: unknown): string | undefined {
  return isObject(messages) && typeof messages["model"] === "string" ? messages["model"] : undefined;
}

/** The vendor's container of messages and a system prompt. */
function containerOf(format: string, { messages, system }: { messages: unknown[]; system?: string }): object {
  if (format === "gemini-interactions") return { system_instruction: system, input: messages };
  return format === "gemini"
    ? { systemInstruction: { parts: [{ text: system }] }, contents: messages }
    : { system, messages };
}

/** The error, or a hint if the file is a session of an agent. */
async function hinted(error: unknown, input: Input): Promise<unknown> {
  if (!(error instanceof CtxweaveError && error.code === "invalid_input")) return error;
  const { area } = await openArea("all");
  const found = area.identify(input.bytes);
  if (found.kind !== "session" || found.format === "generic-v1") return error;
  return unusable(
    `${input.name} is a session file (${found.format}); use \`ctxweave session show\` or \`session convert\``,
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
