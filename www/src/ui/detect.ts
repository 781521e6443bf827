/** What somebody dropped or pasted: found out by names and shapes alone. What is guessed wrong can be opened as something else. */

import { plural } from "./format.js";

/** A view that opens things that are dropped. */
export type Target = "chats" | "commits" | "loom" | "folders" | "workspace" | "operators" | "tokens";

export interface Guess {
  /** The view that it is for; undefined where it is not known. */
  view: Target | undefined;
  /** What it is, in words: it follows "this is". */
  what: string;
  /** A file of another loom, which is imported first. */
  imported?: true;
}

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isList = (value: unknown): value is unknown[] => Array.isArray(value);

const FOLDER_FILE = /(^|\/)(AGENTS|CLAUDE)\.md$/u;
const WORKSPACE_FILE = /(^|\/)(brief\.md|notes\.md|log\.jsonl|vocabulary_gaps\.jsonl|tastes\/[^/]+\.md)$/u;

/** What several files, or a folder, are. */
export function detectFiles(paths: readonly string[]): Guess | undefined {
  if (paths.some((path) => FOLDER_FILE.test(path)))
    return { view: "folders", what: paths.length === 1 ? "a context file" : "a folder with context files" };
  if (paths.some((path) => WORKSPACE_FILE.test(path)))
    return { view: "workspace", what: paths.length === 1 ? "a file of a workspace" : "a workspace" };
  return undefined;
}

/** What a file is, by its name and what is in it. */
export function detect(name: string, bytes: Uint8Array): Guess {
  if (/\.cbor$/iu.test(name) || bytes.subarray(0, 64).includes(0)) return binary(name, bytes);
  const text = new TextDecoder().decode(bytes).replace(/^\uFEFF/u, "");
  return detectFiles([name]) ?? detectText(text, name);
}

function binary(name: string, bytes: Uint8Array): Guess {
  // An array or a map of CBOR, which is what these sessions begin with.
  const first = bytes[0] ?? 0;
  const isCbor = /\.cbor$/iu.test(name) || (first >= 0x80 && first <= 0xbf) || first === 0xd9;
  return isCbor ? { view: "commits", what: "a session (CBOR)" } : { view: undefined, what: "bytes, and no text" };
}

function detectText(text: string, name: string): Guess {
  const start = text.trimStart();
  if (/^(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*)*<task[\s/>]/u.test(start))
    return { view: "operators", what: "a task template" };
  if (/^[[{]/u.test(start) || /\.jsonl?$/iu.test(name)) {
    const value = parsed(text);
    // One message alone is a session that has just begun.
    if (value !== undefined && !isMessage(value)) return detectValue(value);
    const lines = detectLines(start);
    if (lines) return lines;
    if (/\.jsonl?$/iu.test(name) || /^[[{]\s*["{[\]}]/u.test(start))
      return { view: undefined, what: "JSON that is not whole" };
  }
  return { view: "tokens", what: "a text" };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Sessions are written a record a line; some may be torn. */
function detectLines(text: string): Guess | undefined {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const records = lines.slice(0, 40).map(parsed).filter(isFields);
  if (records.length * 2 <= Math.min(lines.length, 40)) return undefined;
  const session = sessionOf(records);
  if (session) return { view: "commits", what: session };
  return { view: "loom", what: "a file of another loom", imported: true };
}

/** Which agent has written these records. */
function sessionOf(records: readonly Fields[]): string | undefined {
  const has = (...keys: string[]): boolean => records.some((record) => keys.some((key) => key in record));
  const isType = (pattern: RegExp): boolean =>
    records.some(({ type }) => typeof type === "string" && pattern.test(type));
  if (isType(/^(session_meta|response_item|turn_context|event_msg)$/u)) return "a session of Codex";
  if (has("projectHash")) return "a session of Gemini CLI";
  if (has("parentUuid", "leafUuid")) return "a session of Claude Code";
  if (has("record_type") || isType(/^(function_call|reasoning)$/u)) return "a session of Codex (an older one)";
  if (records.filter(isMessage).length * 2 > records.length) return "a session: a message a line";
  return undefined;
}

const ROLES = new Set(["system", "developer", "user", "assistant", "tool", "function", "model"]);

/** A message of a chat, of any provider or library. */
function isMessage(value: unknown): value is Fields {
  if (!isFields(value)) return false;
  const { role, type } = value;
  if (typeof role === "string")
    return ROLES.has(role) && ("content" in value || "parts" in value || "tool_calls" in value);
  if (isList(value["parts"])) return value["parts"].every(isFields);
  if (value["lc"] === 1) return true;
  return (
    typeof type === "string" &&
    /^(human|ai|system|tool|message|reasoning|item_reference|compaction|.*_call(_output|_result)?)$/u.test(type)
  );
}

const isChat = (value: unknown): value is Fields[] => isList(value) && value.every(isMessage);

function detectValue(value: unknown): Guess {
  if (isList(value)) {
    if (value.length > 0 && isChat(value))
      return { view: "chats", what: `an array of ${plural(value.length, "chat message")}` };
    return isFields(value[0]) ? { view: "loom", what: "a file of another loom", imported: true } : unknown();
  }
  if (!isFields(value)) return unknown();
  const tree = isFields(value["tree"]) ? value["tree"] : value;
  if (isList(tree["nodes"]) && isList(tree["edges"])) return { view: "loom", what: "a Loom tree" };
  if (isFields(value["model"]) && "vocab" in value["model"])
    return { view: "tokens", what: "the tokenizer of a model" };
  return bodyOf(value) ?? sessionObject(value) ?? { view: "loom", what: "a file of another loom", imported: true };
}

const unknown = (): Guess => ({ view: undefined, what: "JSON that is nothing known" });

function sessionObject(value: Fields): Guess | undefined {
  const session = sessionOf([value]);
  return session && isList(value["messages"]) ? { view: "commits", what: session } : undefined;
}

/** The body of a request, and whose. */
function bodyOf(value: Fields): Guess | undefined {
  const { messages, contents, input, model } = value;
  const body = (whose: string): Guess => ({ view: "chats", what: `a request body of ${whose}` });
  if (isChat(contents)) return body("Gemini");
  // Items of Responses are of many types, and more come.
  const isItem = (item: unknown): boolean => isMessage(item) || (isFields(item) && typeof item["type"] === "string");
  const isInput = isList(input) && input.some(isMessage) && input.every(isItem);
  const isResponse = isInput || (typeof input === "string" && typeof model === "string");
  if (isResponse) return body("OpenAI (Responses)");
  if (!isChat(messages) || "projectHash" in value) return undefined;
  const text = JSON.stringify(messages.slice(0, 200));
  const isAnthropic =
    "system" in value ||
    "anthropic_version" in value ||
    /^(anthropic\/)?claude/u.test(String(model)) ||
    /"type":"(tool_use|tool_result|thinking)"/u.test(text);
  if (isAnthropic) return body("Anthropic");
  const isOpenai = typeof model === "string" || /"tool_calls"|"image_url"|"role":"(system|developer)"/u.test(text);
  return isOpenai ? body("OpenAI (Chat Completions)") : { view: "chats", what: "a chat" };
}
