import { fieldsOf } from "./request.js";

/** What fills a window. */
export type Kind = "system" | "user" | "assistant" | "reasoning" | "call" | "result" | "image" | "file" | "tool";

type Path = readonly (string | number)[];

/** A part of a message: where it stands in it, and what it is. */
export interface Part {
  path: Path;
  kind: Kind;
  /** Of a call or a result the tool, else who says it. */
  name: string;
  /** Of a call or a result, where it has one: what joins the two. */
  callId?: string;
}

/** The fields of a message whose elements are its parts, or which are a part by themselves. */
const SLOTS = ["reasoning_content", "content", "parts", "tool_calls", "function_call"] as const;

/** Where LangChain's serialised messages have the fields of others. */
const INNER = ["kwargs", "data"] as const;

const ROLES: Record<string, string> = { human: "user", ai: "assistant", model: "assistant" };

/** Who speaks, in one word for all formats. */
export function roleOf(message: unknown): string {
  const { role, type, id } = fieldsOf(message);
  const last = Array.isArray(id) ? String(id.at(-1)).replace(/Message(Chunk)?$/u, "") : undefined;
  const name = String(role ?? last ?? type ?? "message")
    .replaceAll("_", " ")
    .toLowerCase();
  return ROLES[name] ?? name;
}

/** The parts of a message, whatever its format: where it has none, it is one itself. */
export function partsOf(message: unknown): Part[] {
  const role = roleOf(message);
  const inner = INNER.find((field) => "content" in fieldsOf(fieldsOf(message)[field]));
  const fields = inner ? fieldsOf(fieldsOf(message)[inner]) : fieldsOf(message);
  const name = String(fields["name"] ?? fields["tool_name"] ?? "");
  const callId = fields["tool_call_id"] as string | undefined;
  const base: Path = inner ? [inner] : [];
  const parts: Part[] = [];
  for (const slot of SLOTS) {
    const value = fields[slot];
    const path = [...base, slot];
    if (Array.isArray(value)) {
      for (const [at, one] of value.entries()) parts.push({ path: [...path, at], ...kindOf(one, role, slot) });
    } else if (value !== undefined && value !== null && value !== "") {
      parts.push({ path, ...kindOf(value, role, slot) });
    }
  }
  // A call that LangChain has among the blocks, too, is one call.
  const listed = new Set(parts.filter(({ path }) => path.at(-2) === "tool_calls").map(({ callId }) => callId));
  const found = parts.filter(
    ({ path, kind, callId }) => kind !== "call" || path.at(-2) !== "content" || !listed.has(callId),
  );
  if (found.length === 0) return [{ path: [], ...kindOf(message, role, "") }];
  // What a message with the role of a tool says is a result, in every form of it.
  if (role !== "tool" && role !== "function") return found;
  return found.map((part) => ({
    ...part,
    ...(part.kind === "user" || part.kind === "assistant"
      ? { kind: "result" as const, name, ...(callId === undefined ? {} : { callId }) }
      : {}),
  }));
}

function kindOf(value: unknown, role: string, slot: string): Omit<Part, "path"> {
  const fields = fieldsOf(value);
  const type = String(fields["type"] ?? "");
  const call = fieldsOf(fields["functionCall"] ?? fields["function_call"] ?? fields["function"]);
  const response = fieldsOf(fields["functionResponse"] ?? fields["function_response"]);
  const name = String(
    fields["toolName"] ?? fields["tool_name"] ?? call["name"] ?? response["name"] ?? fields["name"] ?? "",
  );
  const id = fields["tool_use_id"] ?? fields["toolCallId"] ?? fields["call_id"] ?? fields["callId"] ?? fields["id"];
  const joined = typeof id === "string" ? { callId: id } : {};
  const is = (kind: Kind): Omit<Part, "path"> => ({ kind, name, ...joined });
  if (slot === "reasoning_content" || fields["thought"] === true) return { kind: "reasoning", name: role };
  if (/^(thinking|redacted_thinking|reasoning)/u.test(type)) return { kind: "reasoning", name: role };
  if (/result$|_output$/u.test(type) || "functionResponse" in fields || "function_response" in fields)
    return is("result");
  if (/^(tool-|dynamic-tool)/u.test(type) && type !== "tool-call")
    return { kind: "result", name: name || type.replace(/^tool-/u, ""), ...joined };
  if (slot === "tool_calls" || slot === "function_call" || /(_|-|^)call$|_use$/u.test(type)) return is("call");
  if ("functionCall" in fields || "function_call" in fields) return is("call");
  const media = mediaOf(fields);
  if (/image/u.test(type) || media?.startsWith("image/")) return { kind: "image", name: role };
  if (media !== undefined || /^(file|document|input_file|input_audio|audio|video)$/u.test(type))
    return { kind: "file", name: String(fields["filename"] ?? fields["title"] ?? role) };
  if (role === "system" || role === "developer") return { kind: "system", name: role };
  return { kind: role === "assistant" ? "assistant" : "user", name: role };
}

function mediaOf(fields: Record<string, unknown>): string | undefined {
  const data = fieldsOf(fields["inlineData"] ?? fields["inline_data"] ?? fields["fileData"] ?? fields["source"]);
  const media = fields["mediaType"] ?? data["mimeType"] ?? data["mime_type"] ?? data["media_type"];
  return typeof media === "string" ? media : undefined;
}

/** What stands at a path. */
export function at(value: unknown, path: Path): unknown {
  return path.reduce((inner, key) => fieldsOf(inner)[key], value);
}

/** A copy with something else at a path; nothing takes an element out of its list, and a field out of its object. */
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
  // A message without a text still has the field for it.
  if (key === "content") return { ...fields, content: null };
  const { [key]: _, ...others } = fields;
  return others;
}

/** A message without some of its parts. */
export function without(message: unknown, parts: readonly Part[]): unknown {
  // From the end, so that the places of the others hold.
  return parts.toReversed().reduce((rest: unknown, { path }) => put(rest, path, undefined), message);
}

/** A message with one of its parts alone. */
export function only(message: unknown, parts: readonly Part[], part: Part): unknown {
  return without(
    message,
    parts.filter((one) => one !== part),
  );
}

/** Where the part stands in what `only` gives: the first of its list. */
export const pathAlone = ({ path }: Part): Path => (typeof path.at(-1) === "number" ? [...path.slice(0, -1), 0] : path);

/** Where the formats have what a message says, in the order in which it is read. */
const TEXTS = (
  "text thinking reasoning refusal content parts summary output value result response arguments args input " +
  "data kwargs tool_calls functionCall functionResponse function"
).split(" ");

/** What a message says, whatever its format: its texts, and its calls by name. */
export function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).filter(Boolean).join("\n");
  if (typeof value !== "object" || value === null) return String(value ?? "");
  const fields = fieldsOf(value);
  const name = fields["toolName"] ?? fields["name"];
  const input = fields["arguments"] ?? fields["args"] ?? fields["input"];
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
