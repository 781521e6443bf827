/** Files and standard input. */

import { readFileSync } from "node:fs";
import { exits, Failure, misused, unusable } from "./failure.js";
import { reason } from "./output.js";

/** The bytes of an input, and its name in messages. */
export interface Input {
  name: string;
  bytes: Uint8Array;
}

/** The single input file; standard input without one or for `-`. */
export async function oneInput(operands: readonly string[]): Promise<Input> {
  const [file = "-", ...others] = operands;
  if (others.length > 0) throw misused(`unexpected argument \`${others[0]}\`; give one file`);
  return input(file);
}

/** A file, or standard input for `-`. */
export async function input(file: string): Promise<Input> {
  if (file !== "-") return { name: file, bytes: readFile(file) };
  if (process.stdin.isTTY) throw misused("no input; give a file or pipe one in (examples: `--help`)");
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Uint8Array);
  return { name: "standard input", bytes: Buffer.concat(chunks) };
}

/** The bytes of a file. */
export function readFile(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ERR_FS_FILE_TOO_LARGE") throw unusable(`\`${file}\` is too large: over 2 GiB; split it`);
    throw new Failure(exits.file, `cannot read \`${file}\`: ${reason(error)}`, { cause: error });
  }
}

/** Decodes UTF-8. A byte order mark is dropped, invalid bytes become U+FFFD. */
export function textOf({ name, bytes }: Input): string {
  try {
    return new TextDecoder().decode(bytes);
  } catch (cause) {
    // Longer than a string of the engine may be.
    throw new Failure(exits.input, `${name} is too large: ${bytes.length} bytes; split it`, { cause });
  }
}

/** What a file seems to be instead of UTF-8, whose text and counts are therefore unreliable. */
export function otherEncodingOf({ bytes }: Input): string | undefined {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return "UTF-16";
  if (bytes.subarray(0, 8192).includes(0)) return "binary data";
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return undefined;
  } catch {
    return "no UTF-8, perhaps Latin-1";
  }
}

/** Parses JSON, or JSONL as a list of its lines. */
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
    throw unusable(`${input.name} is not JSON: ${(error as Error).message}`);
  }
}

function parsed(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unusable(`${name} is not JSON: ${(error as Error).message}`);
  }
}

/** Parses the file of an option. */
export function jsonFile(file: string | undefined): unknown {
  return file === undefined ? undefined : jsonOf({ name: file, bytes: readFile(file) });
}

/** The text of an option, read from a file for `@FILE`. */
export function textOption(given: string | undefined): string | undefined {
  if (!given?.startsWith("@")) return given;
  const file = given.slice(1);
  return textOf({ name: file, bytes: readFile(file) });
}

/** Whether a value is an object with fields. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The fields with a value. */
export function given<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };
}
