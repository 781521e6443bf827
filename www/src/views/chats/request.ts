/**
 * A request: a list of messages, or a body with messages, system context and tools. Formats that the package reads are
 * passed unchanged; OpenAI Responses and Gemini Interactions have their messages in `input`, which is read here.
 */

/** Fields of a body that can hold the messages. */
const LISTS = ["messages", "contents", "input"] as const;
/** Fields that can hold the system context. */
const SYSTEMS = ["system", "systemInstruction", "system_instruction", "instructions"] as const;

type Fields = Record<string, unknown>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};

const listField = (value: unknown): (typeof LISTS)[number] | undefined =>
  Array.isArray(value) ? undefined : LISTS.find((field) => field in fieldsOf(value));

/** Parses the JSON of a request. Throws if it is not a request. */
export function readRequest(text: string): unknown {
  const value = JSON.parse(text.replace(/^\uFEFF/u, "")) as unknown;
  const { input } = fieldsOf(value);
  return typeof input === "string" ? { ...fieldsOf(value), input: [{ role: "user", content: input }] } : value;
}

/** The messages of a request; empty if it has no list. */
export function messagesOf(request: unknown): readonly unknown[] {
  if (Array.isArray(request)) return request;
  const field = listField(request);
  const list = field && fieldsOf(request)[field];
  return Array.isArray(list) ? list : [];
}

/** The same request with other messages. */
export function withMessages(request: unknown, messages: readonly unknown[]): unknown {
  const field = listField(request);
  return field ? { ...fieldsOf(request), [field]: messages } : messages;
}

export interface OtherFields {
  system?: unknown;
  tools?: unknown;
}

/** The arguments for `fitMessages`: the chat, and fields outside it that the package does not read. */
export function chatOf(request: unknown): { chat: readonly unknown[]; others: OtherFields } {
  const field = listField(request);
  if (field !== "input") return { chat: request as readonly unknown[], others: {} };
  const { tools } = fieldsOf(request);
  const system = systemOf(request);
  return {
    chat: messagesOf(request),
    others: {
      ...(system === undefined ? {} : { system }),
      ...(Array.isArray(tools) ? { tools } : {}),
    },
  };
}

/** The request with the resulting chat. */
export const requestOf = (request: unknown, chat: unknown): unknown =>
  listField(request) === "input" ? withMessages(request, chat as unknown[]) : chat;

/** The system context outside the messages. */
export function systemOf(request: unknown): unknown {
  if (Array.isArray(request)) return undefined;
  const fields = fieldsOf(request);
  const field = SYSTEMS.find((name) => fields[name] !== undefined && fields[name] !== null);
  return field && fields[field];
}

/** The same request without the system context outside its messages. */
export function withoutSystem(request: unknown): unknown {
  if (Array.isArray(request)) return request;
  return Object.fromEntries(Object.entries(fieldsOf(request)).filter(([name]) => !SYSTEMS.includes(name as "system")));
}

/** The model named in a body. */
export function modelOf(request: unknown): string | undefined {
  const { model } = Array.isArray(request) ? {} : (fieldsOf(request) as { model?: unknown });
  return typeof model === "string" ? model : undefined;
}

/** A tool definition, and the list with only this definition. */
export interface ToolDefinition {
  name: string;
  value: unknown;
  alone: unknown[];
}

/** Gemini has a list of functions in each of its tools; all others have a list of tools. */
const DECLARATIONS = ["functionDeclarations", "function_declarations"] as const;

export const toolList = (request: unknown): readonly unknown[] => {
  const { tools } = Array.isArray(request) ? {} : (fieldsOf(request) as { tools?: unknown });
  return Array.isArray(tools) ? tools : [];
};

function declarations(tool: unknown): { field: string; list: readonly unknown[] } | undefined {
  const field = DECLARATIONS.find((name) => Array.isArray(fieldsOf(tool)[name]));
  return field && { field, list: fieldsOf(tool)[field] as unknown[] };
}

function nameOf(tool: unknown): string {
  const { name, type } = fieldsOf(tool);
  const inner = fieldsOf(fieldsOf(tool)["function"])["name"];
  return String(inner ?? name ?? type ?? Object.keys(fieldsOf(tool))[0] ?? "tool");
}

/** The tools of a request, as single definitions. */
export function toolsOf(request: unknown): ToolDefinition[] {
  return toolList(request).flatMap((tool) => {
    const found = declarations(tool);
    if (!found) return [{ name: nameOf(tool), value: tool, alone: [tool] }];
    return found.list.map((value) => ({ name: nameOf(value), value, alone: [{ [found.field]: [value] }] }));
  });
}

/** The same request with some of its tools, by index in `toolsOf`. */
export function withTools(request: unknown, stays: (place: number) => boolean): unknown {
  let place = 0;
  const tools = toolList(request).flatMap((tool) => {
    const found = declarations(tool);
    if (!found) return stays(place++) ? [tool] : [];
    const list = found.list.filter(() => stays(place++));
    return list.length > 0 ? [{ ...fieldsOf(tool), [found.field]: list }] : [];
  });
  const { tools: _, ...rest } = fieldsOf(request);
  return tools.length > 0 ? { ...rest, tools } : rest;
}
