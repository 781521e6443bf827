/** Files and standard input. */

import { readFileSync } from "node:fs";
import { exits, Failure, misused, unusable } from "./failure.js";
import { reason } from "./output.js";

/** What was read, and the name that it has in messages. */
export interface Input {
  name: string;
  bytes: Uint8Array;
}

/** The one file that a command takes; without it, or for `-`, standard input. */
export async function oneInput(operands: readonly string[]): Promise<Input> {
  const [file = "-", ...others] = operands;
  if (others.length > 0) throw misused(`one file at a time: \`${others[0]}\` is one too many`);
  return input(file);
}

/** A file, or standard input for `-`. */
export async function input(file: string): Promise<Input> {
  if (file !== "-") return { name: file, bytes: readFile(file) };
  if (process.stdin.isTTY) throw misused("give a file, or pipe one in; `--help` has examples");
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Uint8Array);
  return { name: "standard input", bytes: Buffer.concat(chunks) };
}

/** The bytes of a file. */
export function readFile(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Failure(exits.file, `cannot read \`${file}\`: ${reason(error)}`, { cause: error });
  }
}

/** The text of bytes; a byte order mark goes, and what is no UTF-8 becomes U+FFFD. */
export function textOf({ bytes }: Input): string {
  return new TextDecoder().decode(bytes);
}

/** JSON, or JSONL as a list of its lines. */
export function jsonOf(input: Input): unknown {
  const text = textOf(input);
  try {
    return JSON.parse(text);
  } catch (error) {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    if (lines.length > 1 && lines.every((line) => line.trimStart().startsWith("{"))) {
      return lines.map((line, at) => parsed(line, `${input.name}, line ${at + 1}`));
    }
    if (text.trim() === "") throw unusable(`${input.name} is empty`);
    throw unusable(`${input.name} is no JSON: ${(error as Error).message}`);
  }
}

function parsed(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unusable(`${name} is no JSON: ${(error as Error).message}`);
  }
}

/** The JSON of the file that an option names. */
export function jsonFile(file: string | undefined): unknown {
  return file === undefined ? undefined : jsonOf({ name: file, bytes: readFile(file) });
}

/** A text that is given as it is, or as `@FILE`. */
export function textOption(given: string | undefined): string | undefined {
  if (!given?.startsWith("@")) return given;
  const file = given.slice(1);
  return textOf({ name: file, bytes: readFile(file) });
}

/** Whether it is an object with fields. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The fields that have a value: an option that was not given is not there. */
export function given<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };
}
