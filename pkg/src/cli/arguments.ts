/** The arguments of a command. Options are declared once, for parsing and for the help. */

import { parseArgs } from "node:util";
import { misused } from "./failure.js";

/** An option. Its name is the key of its declaration, as typed: `max-tokens`. */
export interface Option {
  kind: "flag" | "text" | "number" | "count" | "list";
  /** Placeholder of the value in the help: `N`, `FILE`. Absent for a flag. */
  value?: string;
  /** The allowed values. */
  choices?: readonly string[];
  help: string;
}

export type Options = Readonly<Record<string, Option>>;

/** The type of an option's value. */
type ValueOf<Of extends Option> = Of["kind"] extends "flag"
  ? boolean
  : Of["kind"] extends "number" | "count"
    ? number | undefined
    : Of["kind"] extends "list"
      ? readonly string[]
      : string | undefined;

/** The values of declared options. */
export type Values<Of extends Options> = { readonly [Name in keyof Of]: ValueOf<Of[Name]> };

export const flag = (help: string) => ({ kind: "flag", help }) as const;
/** Any number. */
export const number = (value: string, help: string) => ({ kind: "number", value, help }) as const;
/** A whole number, 0 or more. */
export const count = (value: string, help: string) => ({ kind: "count", value, help }) as const;
export const text = (value: string, help: string) => ({ kind: "text", value, help }) as const;
/** A repeatable option. */
export const list = (value: string, help: string) => ({ kind: "list", value, help }) as const;
export const choice = (choices: readonly string[], help: string) =>
  ({ kind: "text", value: "NAME", choices, help }) as const;

/** The arguments after a command's name. */
export interface Arguments<Of extends Options> {
  values: Values<Of>;
  operands: readonly string[];
}

/** Parses the arguments. An undeclared option throws, with the nearest declared name. */
export function readArguments<Of extends Options>(options: Of, args: readonly string[]): Arguments<Of> {
  const declared = Object.entries(options).map(([name, { kind }]) => {
    const type = kind === "flag" ? ("boolean" as const) : ("string" as const);
    return [name, { type, multiple: kind === "list", ...(name === "help" && { short: "h" }) }] as const;
  });
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(declared),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values: Record<string, unknown> = {};
  for (const [name, { kind }] of Object.entries(options)) {
    values[name] = kind === "flag" ? false : kind === "list" ? [] : undefined;
  }
  const operands: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") operands.push(token.value);
    if (token.kind !== "option") continue;
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (!option)
      throw misused(
        unknownName(`unknown option \`${token.rawName}\``, token.rawName, Object.keys(options).map(dashed)),
      );
    const value = valueOf(token.rawName, option, token.value, token.inlineValue === true);
    if (option.kind === "list") (values[token.name] as unknown[]).push(value);
    else values[token.name] = value;
  }
  return { values: values as Values<Of>, operands };
}

function valueOf(
  name: string,
  { kind, choices, value: placeholder }: Option,
  value: string | undefined,
  inline: boolean,
) {
  if (kind === "flag") {
    if (value !== undefined) throw misused(`\`${name}\` takes no value`);
    return true;
  }
  // `--out --json` is a forgotten value; `--title=--json` and `--offset -5` are not.
  const isForgotten = value === undefined || (!inline && /^--?[a-z]/i.test(value));
  if (isForgotten) throw misused(`missing value of \`${name}\`; write \`${name} ${placeholder ?? "VALUE"}\``);
  if (kind === "number" || kind === "count") {
    const number = Number(value);
    if (value.trim() === "" || !Number.isFinite(number)) throw misused(`\`${name}\` takes a number, not \`${value}\``);
    if (kind === "count" && !(Number.isSafeInteger(number) && number >= 0)) {
      throw misused(`\`${name}\` takes a whole number, 0 or more, not \`${value}\``);
    }
    return number;
  }
  if (choices && !choices.includes(value)) {
    throw misused(unknownName(`\`${name}\` does not take \`${value}\``, value, choices));
  }
  return value;
}

/** `--name`. */
export const dashed = (name: string): string => `--${name}`;

/** The message of a problem with a name: followed by the nearest known name, or by all of them. */
export function unknownName(problem: string, given: string, known: readonly string[]): string {
  const near = nearest(given, known);
  const hint = near ? `did you mean \`${near}\`?` : `expected one of ${known.map((name) => `\`${name}\``).join(", ")}`;
  return `${problem}; ${hint}`;
}

/** The known name that was probably meant: a unique prefix match or the smallest edit distance. `--maxTokens` matches `--max-tokens`. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const typed = plain(given);
  const byPrefix = known.filter((name) => typed.length > 2 && plain(name).startsWith(typed));
  if (byPrefix.length === 1) return byPrefix[0];
  const measured = known.map((name) => ({ name, far: distance(typed, plain(name)) }));
  const [best] = measured.sort((a, b) => a.far - b.far);
  const maxDistance = Math.min(typed.length - 1, Math.max(2, typed.length / 3));
  return best && best.far <= maxDistance ? best.name : undefined;
}

/** The edit distance: letters to insert, delete or replace. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...a].entries()) {
    const next = [at + 1];
    for (const [other, its] of [...b].entries()) {
      const [left, above, before] = [next[other] ?? 0, row[other + 1] ?? 0, row[other] ?? 0];
      next.push(Math.min(left + 1, above + 1, before + (letter === its ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
