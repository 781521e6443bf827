/** The arguments of a command: options that are declared once, for reading them and for the help. */

import { parseArgs } from "node:util";
import { misused } from "./failure.js";

/** An option. Its name is the key that it is declared under, as it is typed: `max-tokens`. */
export interface Option {
  kind: "flag" | "text" | "number" | "list";
  /** What stands for the value in the help: `N`, `FILE`. Absent for a flag. */
  value?: string;
  /** The values that there are. */
  choices?: readonly string[];
  help: string;
}

export type Options = Readonly<Record<string, Option>>;

/** What an option's value is. */
type ValueOf<Of extends Option> = Of["kind"] extends "flag"
  ? boolean
  : Of["kind"] extends "number"
    ? number | undefined
    : Of["kind"] extends "list"
      ? readonly string[]
      : string | undefined;

/** The values of declared options. */
export type Values<Of extends Options> = { readonly [Name in keyof Of]: ValueOf<Of[Name]> };

export const flag = (help: string) => ({ kind: "flag", help }) as const;
export const number = (value: string, help: string) => ({ kind: "number", value, help }) as const;
export const text = (value: string, help: string) => ({ kind: "text", value, help }) as const;
/** May be given several times. */
export const list = (value: string, help: string) => ({ kind: "list", value, help }) as const;
export const choice = (choices: readonly string[], help: string) =>
  ({ kind: "text", value: "NAME", choices, help }) as const;

/** What was typed after a command's name. */
export interface Arguments<Of extends Options> {
  values: Values<Of>;
  operands: readonly string[];
}

/** Reads the arguments. What is not declared is refused, with the nearest name that is. */
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
    if (!option) throw misused(notKnown("option", token.rawName, Object.keys(options).map(dashed)));
    const value = valueOf(token.rawName, option, token.value, token.inlineValue === true);
    if (option.kind === "list") (values[token.name] as unknown[]).push(value);
    else values[token.name] = value;
  }
  return { values: values as Values<Of>, operands };
}

function valueOf(name: string, { kind, choices, value: stands }: Option, value: string | undefined, inline: boolean) {
  if (kind === "flag") {
    if (value !== undefined) throw misused(`\`${name}\` takes no value`);
    return true;
  }
  // `--out --json` is a forgotten value; `--title=--json` and `--offset -5` are not.
  const isForgotten = value === undefined || (!inline && /^--?[a-z]/i.test(value));
  if (isForgotten) throw misused(`\`${name}\` needs a value: \`${name} ${stands ?? "VALUE"}\``);
  if (kind === "number") {
    const number = Number(value);
    if (value.trim() === "" || !Number.isFinite(number)) throw misused(`\`${name}\` is a number, not \`${value}\``);
    return number;
  }
  if (choices && !choices.includes(value)) throw misused(notKnown(`value of \`${name}\``, value, choices));
  return value;
}

/** `--name`. */
export const dashed = (name: string): string => `--${name}`;

/** That there is no such thing, with the nearest one that there is, or all of them. */
export function notKnown(what: string, given: string, known: readonly string[]): string {
  const near = nearest(given, known);
  const instead = near ? `did you mean \`${near}\`?` : `there are ${known.map((name) => `\`${name}\``).join(", ")}`;
  return `there is no ${what} \`${given}\`: ${instead}`;
}

/** The known name that is meant, by its beginning or but for a few letters; `--maxTokens` is `--max-tokens`. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const typed = plain(given);
  const begun = known.filter((name) => typed.length > 2 && plain(name).startsWith(typed));
  if (begun.length === 1) return begun[0];
  const measured = known.map((name) => ({ name, far: distance(typed, plain(name)) }));
  const [best] = measured.sort((a, b) => a.far - b.far);
  const most = Math.min(typed.length - 1, Math.max(2, typed.length / 3));
  return best && best.far <= most ? best.name : undefined;
}

/** How many letters have to be added, taken away or replaced. */
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
