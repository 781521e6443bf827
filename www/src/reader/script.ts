/** JSON inside other text: curl commands, Markdown, JSON with comments, object literals of JavaScript. */

import type { Expression, Property } from "acorn";

/** Longest text that is searched, in characters: a file with a request in it is written by people. */
const MAX_SCRIPT = 4_000_000;

/** A value found in a text, and where. */
export interface Found {
  name: string;
  value: unknown;
}

/** The JSON values in a text that is not JSON itself. */
export async function valuesInText(text: string): Promise<Found[]> {
  if (text.length > MAX_SCRIPT) return [];
  if (/^\s*(?:\$\s+)?curl\s/u.test(text)) return await inCommand(text);
  const blocks = [...text.matchAll(/^[ \t]*(`{3,}|~{3,})[^\n]*\n([\s\S]*?)\n[ \t]*\1/gmu)];
  if (blocks.length > 0) {
    const found = await Promise.all(blocks.map(([, , block]) => literalIn(block ?? "")));
    return found.flatMap((value, at) => (isObject(value) ? [{ name: `Block ${at + 1}`, value }] : []));
  }
  const value = await literalIn(text);
  return isObject(value) ? [{ name: "", value }] : [];
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** JSON, or the first object or list in a script. */
async function literalIn(text: string): Promise<unknown> {
  try {
    return JSON.parse(text);
  } catch {
    return isScript(text) ? evaluated(text) : undefined;
  }
}

/** Whether a text can be a literal, or a script that assigns one. */
const isScript = (text: string): boolean =>
  /^(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*(?:[{[(]|export\b|const\b|let\b|var\b|module\b)/u.test(text);

async function evaluated(text: string): Promise<unknown> {
  const { parse } = await import("acorn");
  const options = { ecmaVersion: "latest", sourceType: "module" } as const;
  for (const source of [`(${text.trim().replace(/[;,]$/u, "")})`, text]) {
    try {
      const literal = literalOf(parse(source, options));
      if (literal) return valueOf(literal);
    } catch {
      // Not a script, or one with computed values.
    }
  }
  return undefined;
}

/** The first object or list in a program, outside functions and calls. */
function literalOf(node: unknown): Expression | undefined {
  const { type = "" } = (node ?? {}) as Partial<Expression>;
  if (type === "ObjectExpression" || type === "ArrayExpression") return node as Expression;
  if (typeof node !== "object" || node === null || /Function|Class|Call|New/u.test(type)) return undefined;
  for (const inner of Object.values(node)) {
    const found = literalOf(inner);
    if (found) return found;
  }
  return undefined;
}

/** The value of a literal. Nothing is run: throws for anything computed. */
function valueOf(node: Expression): unknown {
  switch (node.type) {
    case "ObjectExpression":
      return Object.fromEntries(node.properties.map((property) => entryOf(property as Property)));
    case "ArrayExpression":
      return node.elements.map((element) => (element ? valueOf(element as Expression) : null));
    case "Literal":
      return node.value;
    case "TemplateLiteral":
      if (node.expressions.length === 0) return node.quasis[0]?.value.cooked ?? "";
      break;
    case "UnaryExpression":
      if (node.operator === "-") return -Number(valueOf(node.argument));
      break;
    case "BinaryExpression":
      if (node.operator === "+" && node.left.type !== "PrivateIdentifier") {
        return (valueOf(node.left) as string) + (valueOf(node.right) as string);
      }
      break;
    case "Identifier":
      if (node.name === "undefined") return undefined;
      break;
    case "ParenthesizedExpression":
      return valueOf(node.expression);
    default:
  }
  throw new Error(`a computed value: ${node.type}`);
}

function entryOf({ type, key, value, computed }: Property): [string, unknown] {
  if (type !== "Property" || computed) throw new Error("a computed field");
  return [key.type === "Identifier" ? key.name : String((key as { value?: unknown }).value), valueOf(value)];
}

/** The body of a curl command: its `--data` or `--json`. */
async function inCommand(text: string): Promise<Found[]> {
  const words = shellWords(text);
  const at = words.findIndex((word) => /^(?:-d|--json|--data(?:-raw|-binary|-ascii)?)(?:=|$)/u.test(word));
  const body = at < 0 ? undefined : (/^--[a-z-]+=([\s\S]*)$/u.exec(words[at] ?? "")?.[1] ?? words[at + 1]);
  const value = body === undefined ? undefined : await literalIn(body);
  return isObject(value) ? [{ name: "", value }] : [];
}

const ESCAPES: Record<string, string> = { n: "\n", t: "\t", r: "\r", "0": "\0" };

/** The words of a command in a POSIX shell: quotes, `$'…'`, and lines continued by a backslash. */
export function shellWords(text: string): string[] {
  const words: string[] = [];
  const word = /(?:\$'(?:[^'\\]|\\[\s\S])*'|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|[^\s'"\\])+/gu;
  const part = /\$'((?:[^'\\]|\\[\s\S])*)'|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\])/gu;
  for (const [whole] of text.replaceAll(/\\\r?\n/gu, " ").matchAll(word)) {
    let joined = "";
    for (const [, ansi, single, double, escaped, plain] of whole.matchAll(part)) {
      if (ansi !== undefined) {
        joined += ansi.replaceAll(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\s\S]))/gu, (_, u, x, c: string) =>
          u || x ? String.fromCharCode(Number.parseInt(u ?? x, 16)) : (ESCAPES[c] ?? c),
        );
      } else joined += single ?? double?.replaceAll(/\\(["\\$`])/gu, "$1") ?? escaped ?? plain ?? "";
    }
    words.push(joined);
  }
  return words;
}
