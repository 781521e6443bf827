/** `ctxweave body`: the body of a request. */

import type { Target, TargetProvider } from "../types/bodies.js";
import type { FitReport, FitSettings } from "../types/chat.js";
import type { AssemblyReport } from "../types/loom.js";
import { choice, count, flag, number, text } from "./arguments.js";
import { openArea, tokenizerOf } from "./areas.js";
import { command, type Outcome } from "./command.js";
import { misused } from "./failure.js";
import { shorteningOptions, shorteningSettings } from "./fit-options.js";
import { fitLines } from "./fit-report.js";
import { given, isObject, jsonFile, jsonOf, oneInput, textOption } from "./input.js";
import { agentOf, assemblyLines, loomOptions, loomRequest } from "./loom.js";
import type { Line } from "./output.js";

const providers = [
  "anthropic",
  "openai",
  "openai-responses",
  "gemini",
  "gemini-interactions",
  "completion",
] as const satisfies readonly TargetProvider[];

export const body = command({
  name: "body",
  summary: "build a provider's request body from a chat or a tree",
  usage: "[FILE] --provider NAME --model NAME [options]",
  about: `FILE is JSON: an array of chat messages in any provider's format, or a Loom tree. The output is the body of the
    request. The limit is that of the model, or \`--context-window\`.`,
  options: {
    provider: choice(providers, "provider of the request"),
    ...loomOptions,
    ...shorteningOptions,
    "answer-tokens": count("N", "limit on the answer"),
    temperature: number("N", "sampling temperature"),
    stream: flag("request a stream"),
    tools: text("FILE", "tool definitions, as JSON"),
    system: text("TEXT", "system prompt; `@FILE` reads a file"),
  },
  examples: [
    {
      description: "a chat in OpenAI's format, for Anthropic",
      line: "npx ctxweave body chat.json --provider anthropic --model claude-sonnet-4-5",
    },
    {
      description: "a path of a tree, to send with curl",
      line: "npx ctxweave body tree.json --provider openai --model gpt-4o --out body.json",
    },
  ],
  async run(values, operands): Promise<Outcome> {
    const { provider, model } = values;
    if (provider === undefined)
      throw misused(`missing provider; give \`--provider NAME\`, one of ${providers.join(", ")}`);
    if (model === undefined) throw misused("missing model; give `--model NAME`");
    const input = await oneInput(operands);
    const json = jsonOf(input);
    const target = {
      provider,
      model,
      ...given({
        maxTokens: values["answer-tokens"],
        temperature: values.temperature,
        stream: values.stream || undefined,
        tools: jsonFile(values.tools),
      }),
    } as Target;
    if (isObject(json) && ("nodes" in json || "tree" in json)) {
      const buffer = values["token-buffer"] ?? values["answer-tokens"];
      const { loom, request } = await loomRequest(json, input.name, { ...values, "token-buffer": buffer });
      const { body, report } = loom.requestBodyWithReport({ ...request, ...agentOf(request, values.system), target });
      return outcomeOf(body, report, assemblyLines(report));
    }
    const { area, tokenizer } = await openArea("chat", values.tokenizer ?? (await tokenizerOf(model)));
    const { "context-window": contextWindow, marker } = values;
    const options = given({
      model: contextWindow === undefined ? model : undefined,
      contextWindow,
      tokenBuffer: values["token-buffer"] ?? values["answer-tokens"],
      tokenizer,
      truncationStrategy: values.strategy as FitSettings["truncationStrategy"],
      keepLast: values["keep-last"],
      truncationMarker: marker,
      ...shorteningSettings(values),
      tools: jsonFile(values.tools),
      system: textOption(values.system),
    }) satisfies FitSettings;
    const chat = new area.Chat({ ...options, target, ...containerFields(json) });
    try {
      chat.append(...(listOf(json) as object[]));
      const { body, report } = chat.requestBodyWithReport();
      return outcomeOf(body, report, fitLines(report));
    } finally {
      chat.free();
    }
  },
});

/** The messages of a chat, or of a request that contains one. */
function listOf(chat: unknown): readonly unknown[] {
  const list = isObject(chat) ? (chat["messages"] ?? chat["contents"] ?? chat["input"]) : chat;
  if (!Array.isArray(list)) throw misused("the file contains neither an array of messages nor a Loom tree");
  return list;
}

/** The other prompt fields of a request. */
function containerFields(chat: unknown): Pick<FitSettings, "system" | "tools"> {
  if (!isObject(chat)) return {};
  const system = chat["system"] ?? chat["systemInstruction"] ?? chat["system_instruction"] ?? chat["instructions"];
  return given({ system, tools: chat["tools"] });
}

function outcomeOf(body: Uint8Array, report: FitReport | AssemblyReport, lines: Line[]): Outcome {
  const result = new TextDecoder().decode(body);
  return { result, named: { body: JSON.parse(result) }, report: { report }, lines };
}
