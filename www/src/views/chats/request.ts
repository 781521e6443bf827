/** A request: a list of messages, or a body with messages, system context and tools. */

import type { ChatContainer } from "ctxweave/chat";

/** A request, as the package takes it. */
export type Request = readonly unknown[] | (ChatContainer & Readonly<Record<string, unknown>>);

/** Fields of a body that can hold the messages. */
const LISTS = ["messages", "contents", "input"] as const;
/** Fields that can hold the system context. */
const SYSTEMS = ["system", "systemInstruction", "system_instruction", "instructions"];
/** Gemini has a list of functions in each of its tools; all others have a list of tools. */
const DECLARATIONS = ["functionDeclarations", "function_declarations"];

export const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

const listField = (request: Request): (typeof LISTS)[number] | undefined =>
  LISTS.find((field) => field in fieldsOf(request));

/** Parses the JSON of a request; a text as `input` becomes a message. The package checks whether it is a request. */
export function readRequest(text: string): Request {
  try {
    const value = JSON.parse(text.replace(/^\uFEFF/u, "")) as Request;
    const { input } = fieldsOf(value);
    return typeof input === "string" ? { ...value, input: [{ role: "user", content: input }] } : value;
  } catch (error) {
    throw Object.assign(new Error(`this is not JSON: ${(error as Error).message}`), { code: "invalid_json" });
  }
}

/** The messages of a request; empty if it has no list. */
export function messagesOf(request: Request): readonly unknown[] {
  const field = listField(request);
  const list = field ? fieldsOf(request)[field] : request;
  return Array.isArray(list) ? list : [];
}

/** The same request with other messages. */
export function withMessages(request: Request, messages: readonly unknown[]): Request {
  const field = listField(request);
  return field ? ({ ...request, [field]: messages } as unknown as Request) : messages;
}

/** The system context outside the messages. */
export const systemOf = (request: Request): unknown =>
  SYSTEMS.map((name) => fieldsOf(request)[name] ?? undefined).find((value) => value !== undefined);

/** The same request without the system context outside its messages. */
export function withoutSystem(request: Request): Request {
  if (Array.isArray(request)) return request;
  return Object.fromEntries(Object.entries(request).filter(([name]) => !SYSTEMS.includes(name))) as unknown as Request;
}

/** The model named in a body. */
export function modelOf(request: Request): string | undefined {
  const { model } = fieldsOf(request);
  return typeof model === "string" ? model : undefined;
}

/** The tools of a request, as its vendor lists them. */
export function toolList(request: Request): readonly unknown[] {
  const { tools } = fieldsOf(request);
  return Array.isArray(tools) ? tools : [];
}

/** The definitions in a tool, and their field; a tool without such a field is one itself. */
function definitionsIn(tool: unknown): { field: string | undefined; list: readonly unknown[] } {
  const field = DECLARATIONS.find((name) => Array.isArray(fieldsOf(tool)[name]));
  return { field, list: field ? (fieldsOf(tool)[field] as unknown[]) : [tool] };
}

function nameOf(tool: unknown): string {
  const { name, type, function: inner } = fieldsOf(tool);
  return String(fieldsOf(inner).name ?? name ?? type ?? Object.keys(fieldsOf(tool))[0] ?? "tool");
}

/** The tools of a request as single definitions, each with the list of only this definition. */
export const toolsOf = (request: Request): { name: string; value: unknown; alone: unknown[] }[] =>
  toolList(request).flatMap((tool) => {
    const { field, list } = definitionsIn(tool);
    return list.map((value) => ({ name: nameOf(value), value, alone: [field ? { [field]: [value] } : value] }));
  });

/** The same request with some of its tools, by index in `toolsOf`. */
export function withTools(request: Request, stays: (place: number) => boolean): Request {
  let place = 0;
  const tools = toolList(request).flatMap((tool) => {
    const { field, list } = definitionsIn(tool);
    const left = list.filter(() => stays(place++));
    return field && left.length > 0 ? [{ ...fieldsOf(tool), [field]: left }] : left;
  });
  const { tools: _, ...rest } = fieldsOf(request);
  return { ...rest, ...(tools.length > 0 ? { tools } : {}) } as unknown as Request;
}
