import type { MeasuredMessage, MeasuredMessages, MeasuredPart } from "ctxweave/chat";
import { fieldsOf } from "./request.js";

/** Kinds of content in a window. */
export type Kind =
  "system" | "user" | "assistant" | "reasoning" | "call" | "result" | "image" | "file" | "tool" | "overhead";

type Path = readonly (string | number)[];

/** A part of a message, as measured by the package: its position and kind. */
export interface Part extends Pick<MeasuredPart, "tokens" | "paths" | "call"> {
  /** The first of its paths. */
  path: Path;
  kind: Kind;
  /** The tool of a call or result, the name of a file, otherwise the author. */
  name: string;
}

/** A message and its parts. */
export interface Read extends Pick<MeasuredMessage, "role" | "tokens"> {
  message: unknown;
  parts: readonly Part[];
}

/** Joins messages with their measurements. */
export const readParts = (messages: readonly unknown[], { messages: rows }: MeasuredMessages): Read[] =>
  rows.map(({ role, tokens, parts }, place) => {
    const message = messages[place];
    const read = parts.map((part) => {
      const path = part.paths[0] ?? [];
      return { ...part, path, ...kindOf(part, role, at(message, path)) };
    });
    return { message, role, tokens, parts: read };
  });

/** Providers cache no shorter prefix; some models require two or four times as much. */
export const MIN_CACHED_TOKENS = 1024;

/** The index of the first message of each answer of the model. */
export const answersIn = (messages: readonly Pick<Read, "role">[]): number[] =>
  [...messages.keys()].filter((at) => messages[at]?.role === "assistant" && messages[at - 1]?.role !== "assistant");

function kindOf(part: MeasuredPart, role: MeasuredMessage["role"], value: unknown): Pick<Part, "kind" | "name"> {
  const { type, filename, title } = fieldsOf(value);
  switch (part.kind) {
    case "call":
    case "approval":
      return { kind: "call", name: part.name ?? "call" };
    case "result":
    case "callAndResult":
      return { kind: "result", name: part.name ?? "result" };
    case "text":
      return { kind: role === "tool" ? "result" : role, name: role };
    case "other":
      if (/_call$/u.test(String(type))) return { kind: "call", name: String(type) };
      if (/_output$/u.test(String(type))) return { kind: "result", name: String(type) };
      return { kind: "file", name: String(filename ?? title ?? role) };
    default:
      return { kind: part.kind, name: role };
  }
}

/** The value at a path. */
export function at(value: unknown, path: Path): unknown {
  return path.reduce((inner, key) => fieldsOf(inner)[key], value);
}

/** A copy with another value at a path; undefined removes the element or the field. */
export function put(value: unknown, path: Path, next: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return next;
  if (Array.isArray(value)) {
    const inner = rest.length > 0 ? [put(value[key as number], rest, next)] : next === undefined ? [] : [next];
    return [...value.slice(0, key as number), ...inner, ...value.slice((key as number) + 1)];
  }
  const fields = fieldsOf(value);
  const inner = rest.length > 0 ? put(fields[key], rest, next) : next;
  if (inner !== undefined && !(Array.isArray(inner) && inner.length === 0 && key === "tool_calls"))
    return { ...fields, [key]: inner };
  // A message without text keeps the field for it.
  if (key === "content") return { ...fields, content: null };
  const { [key]: _, ...others } = fields;
  return others;
}

/** A message without some of its parts. */
export function without(message: unknown, parts: readonly Part[]): unknown {
  const place = (path: Path): number => (typeof path.at(-1) === "number" ? (path.at(-1) as number) : 0);
  // Backwards within a list, so that earlier indices stay valid.
  const paths = parts.flatMap((part) => part.paths).toSorted((one, other) => place(other) - place(one));
  return paths.reduce((rest: unknown, path) => put(rest, path, undefined), message);
}

/** A message with only one of its parts. */
export function only(message: unknown, parts: readonly Part[], part: Part): unknown {
  return without(
    message,
    parts.filter((one) => one !== part),
  );
}

/** The path of the part in the result of `only`: the first of its list. */
export const pathAlone = ({ path }: Part): Path => (typeof path.at(-1) === "number" ? [...path.slice(0, -1), 0] : path);

/** The fields that hold text in the formats, in reading order. */
const TEXTS = (
  "text thinking reasoning refusal content parts summary output value result response arguments args input " +
  "data kwargs tool_calls functionCall functionResponse function"
).split(" ");

/** The text of a message in any format: its texts, and its calls by name. */
export function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).filter(Boolean).join("\n");
  if (typeof value !== "object" || value === null) return String(value ?? "");
  const fields = fieldsOf(value);
  const name = fields.toolName ?? fields.name;
  const input = fields.arguments ?? fields.args ?? fields.input;
  if (typeof name === "string" && input !== undefined) {
    return `${name}(${typeof input === "string" ? input : JSON.stringify(input)})`;
  }
  const found = TEXTS.filter((field) => field in fields);
  if (found.length === 0) return JSON.stringify(value);
  return found
    .map((field) => textOf(fields[field]))
    .filter(Boolean)
    .join("\n");
}
