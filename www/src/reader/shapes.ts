/** Chats inside other shapes of JSON: lines of a data set, batches, recorded traffic, answers of providers. */

import { fieldsOf } from "../views/chats/request.js";
import type { Found } from "./script.js";

type Fields = ReturnType<typeof fieldsOf>;

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The JSON values of a text: one, or one per line. Undefined if it is not JSON. */
export function jsonOf(text: string): readonly unknown[] | undefined {
  try {
    return [JSON.parse(text)];
  } catch {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    try {
      return lines.length > 1 ? lines.map((line) => JSON.parse(line) as unknown) : undefined;
    } catch {
      return undefined;
    }
  }
}

/** The chats in values that are not chats themselves. */
export function chatsIn(values: readonly unknown[]): Found[] {
  const [only] = values;
  const elements = values.length === 1 && Array.isArray(only) ? (only as readonly unknown[]) : values;
  const word = values.length > 1 ? "Line" : "Item";
  return elements.flatMap((value, at) =>
    chatsOf(value).map((found) => ({
      ...found,
      name: [...(elements.length > 1 ? [`${word} ${at + 1}`] : []), found.name].filter(Boolean).join(", "),
    })),
  );
}

function chatsOf(value: unknown): Found[] {
  const one = fieldsOf(value);
  const entries = list(fieldsOf(one.log).entries);
  if (entries.length > 0) return entries.flatMap(ofTraffic);
  const requests = list(one.requests);
  if (requests.length > 0) return chatsIn([requests]).map((found) => ({ ...found, name: `Request ${found.name}` }));
  const name = String(one.custom_id ?? one.key ?? one.title ?? "");
  const chat = bodyOf(one);
  return chat === undefined ? [] : [{ name, value: chat }];
}

/** The request and its answer in an entry of a HAR file. */
function ofTraffic(entry: unknown, at: number): Found[] {
  const request = fieldsOf(fieldsOf(entry).request);
  const body = parsed(fieldsOf(request.postData).text);
  const path = String(request.url ?? "").replace(/^[a-z]+:\/\/|\?.*$/gu, "");
  const chat = bodyOf(fieldsOf(body));
  return chat === undefined ? [] : [{ name: `Request ${at + 1}, ${path}`, value: chat }];
}

function parsed(text: unknown): unknown {
  try {
    return typeof text === "string" ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** A value as a request or a list of messages. */
function bodyOf(one: Fields): unknown {
  for (const field of ["messages", "contents", "input"]) {
    if (Array.isArray(one[field])) return isConverse(one) ? ofConverse(one) : one;
  }
  // Batches: OpenAI, Anthropic, Gemini. Their results have the answer alone.
  for (const field of ["body", "params", "request"]) {
    const inner = field in one ? bodyOf(fieldsOf(one[field])) : undefined;
    if (inner !== undefined) return inner;
  }
  for (const field of ["response", "result", "message"]) {
    const inner = answerOf(fieldsOf(fieldsOf(one[field]).body ?? fieldsOf(one[field]).message ?? one[field]));
    if (inner !== undefined) return inner;
  }
  const turns = list(one.conversations ?? one.conversation);
  if (turns.some((turn) => "from" in fieldsOf(turn))) return turns.map(ofShareGpt);
  const history = list(one.history);
  if (Array.isArray(one.trajectory) && history.length > 0) {
    return history.map((message) => {
      const { role, content, tool_calls: calls, tool_call_ids: ids } = fieldsOf(message);
      const call = list(ids)[0];
      return {
        role: role === "tool" && !call ? "user" : role,
        content: content ?? "",
        ...(Array.isArray(calls) && calls.length > 0 ? { tool_calls: calls } : {}),
        ...(role === "tool" && call ? { tool_call_id: call } : {}),
      };
    });
  }
  return answerOf(one);
}

/** The answer of a provider, as messages of its format. */
function answerOf(one: Fields): unknown {
  const choices = list(one.choices).map((choice) => fieldsOf(choice).message);
  if (choices.some((message) => message !== undefined)) return choices.slice(0, 1);
  if (one.type === "message" && Array.isArray(one.content)) {
    return { model: one.model, max_tokens: 1024, messages: [{ role: one.role, content: one.content }] };
  }
  const content = fieldsOf(list(one.candidates)[0]).content;
  if (content !== undefined) return { contents: [content] };
  const answer = fieldsOf(one.output).message;
  if (answer !== undefined) return ofConverse({ messages: [answer] });
  return one.object === "response" && Array.isArray(one.output) ? { model: one.model, input: one.output } : undefined;
}

/** Names of the model in ShareGPT data sets. */
const MODEL_NAMES = ["gpt", "chatgpt", "assistant", "model", "bing", "bard", "function_call"];

/** A turn of the ShareGPT data sets. Their results have no ids, so that they are read as the user's. */
function ofShareGpt(turn: unknown): unknown {
  const { from, value } = fieldsOf(turn);
  const role = from === "system" ? from : MODEL_NAMES.includes(String(from)) ? "assistant" : "user";
  return { role, content: String(value ?? "") };
}

const CONVERSE = ["toolUse", "toolResult", "reasoningContent", "text", "image"];

/** Whether a body is that of Bedrock's Converse: its blocks have no type, only a field with their content. */
function isConverse(one: Fields): boolean {
  const blocks = list(one.messages).flatMap((message) => list(fieldsOf(message).content));
  return (
    blocks.length > 0 &&
    blocks.every((block) => !("type" in fieldsOf(block)) && CONVERSE.some((name) => name in fieldsOf(block)))
  );
}

/** The same body in Anthropic's shape. */
function ofConverse(one: Fields): unknown {
  const tools = list(fieldsOf(one.toolConfig).tools).flatMap((tool) => {
    const { name, description, inputSchema } = fieldsOf(fieldsOf(tool).toolSpec);
    return name === undefined ? [] : [{ name, description, input_schema: fieldsOf(inputSchema).json }];
  });
  const { maxTokens } = fieldsOf(one.inferenceConfig);
  const system = list(one.system).flatMap((block) => ofBlock(block));
  return {
    ...(typeof one["modelId"] === "string" ? { model: one["modelId"] } : {}),
    max_tokens: maxTokens ?? 1024,
    ...(system.length > 0 ? { system } : {}),
    ...(tools.length > 0 ? { tools } : {}),
    messages: list(one.messages).map((message) => {
      const { role, content } = fieldsOf(message);
      return { role, content: list(content).flatMap(ofBlock) };
    }),
  };
}

function ofBlock(block: unknown): unknown[] {
  const { text, image, toolUse, toolResult, reasoningContent } = fieldsOf(block);
  if (typeof text === "string") return [{ type: "text", text }];
  if (toolUse !== undefined) {
    const { toolUseId: id, name, input } = fieldsOf(toolUse);
    return [{ type: "tool_use", id, name, input }];
  }
  if (toolResult !== undefined) {
    const { toolUseId, content, status } = fieldsOf(toolResult);
    const inner = list(content).flatMap((part) => {
      const json = fieldsOf(part).json;
      return json === undefined ? ofBlock(part) : [{ type: "text", text: JSON.stringify(json) }];
    });
    const failed = status === "error" ? { is_error: true } : {};
    return [{ type: "tool_result", tool_use_id: toolUseId, content: inner, ...failed }];
  }
  if (reasoningContent !== undefined) {
    const { text: thinking, signature } = fieldsOf(fieldsOf(reasoningContent).reasoningText);
    return [{ type: "thinking", thinking: thinking ?? "", signature: signature ?? "" }];
  }
  const { format, source } = fieldsOf(image);
  const data = fieldsOf(source).bytes;
  return typeof data === "string"
    ? [{ type: "image", source: { type: "base64", media_type: `image/${String(format)}`, data } }]
    : [];
}
