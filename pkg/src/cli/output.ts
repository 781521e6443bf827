/** Standard output and standard error: colours and progress on a terminal only. */

import { writeFileSync } from "node:fs";
import { exits, Failure } from "./failure.js";

/** How a part of a report is meant. */
export type Tone = "strong" | "faint" | "good" | "warning" | "error";

/** A line of a report: plain, or of parts with tones. */
export type Line = string | readonly (string | readonly [Tone, string])[];

const codes: Record<Tone, readonly [number, number]> = {
  strong: [1, 22],
  faint: [2, 22],
  good: [32, 39],
  warning: [33, 39],
  error: [31, 39],
};

type Stream = NodeJS.WriteStream;

/** Whether colours may be written to the stream: see no-color.org. */
export function hasColours(stream: Stream): boolean {
  const { NO_COLOR, TERM } = process.env;
  return stream.isTTY === true && !NO_COLOR && TERM !== "dumb";
}

/** A text with the codes of a tone, where the stream shows them. */
export function painted(stream: Stream, tone: Tone, text: string): string {
  if (!hasColours(stream)) return text;
  const [on, off] = codes[tone];
  return `\u001B[${on}m${text}\u001B[${off}m`;
}

/** Writes the lines of a report to standard error. */
export function report(lines: readonly Line[]): void {
  const shown = lines.map((line) =>
    typeof line === "string"
      ? line
      : line.map((part) => (typeof part === "string" ? part : painted(process.stderr, ...part))).join(""),
  );
  if (shown.length > 0) process.stderr.write(`${shown.join("\n")}\n`);
}

/** Writes a result: to a file, or to standard output. */
export async function write(result: string | Uint8Array, file: string | undefined): Promise<void> {
  if (file !== undefined && file !== "-") return writeFile(file, result);
  if (typeof result !== "string" && process.stdout.isTTY && !isText(result)) {
    throw new Failure(exits.usage, "the result is no text: give `--out FILE`, or pipe it on");
  }
  // On a terminal the prompt comes on a line of its own.
  const isOpen = process.stdout.isTTY && typeof result === "string" && !result.endsWith("\n");
  await new Promise<void>((done, failed) => {
    process.stdout.write(isOpen ? `${result}\n` : result, (error) => (error ? failed(error) : done()));
  });
}

/** Writes a file; its folder has to be there. */
export function writeFile(file: string, content: string | Uint8Array): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw new Failure(exits.file, `cannot write \`${file}\`: ${reason(error)}`, { cause: error });
  }
}

/** What the system says of a file, for people. */
export function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const known: Record<string, string> = {
    ENOENT: "there is no such file or folder",
    EACCES: "it may not be read or written",
    EPERM: "it may not be read or written",
    EISDIR: "it is a folder",
    ENOTDIR: "a part of the path is no folder",
  };
  return known[code ?? ""] ?? message;
}

function isText(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Says what is going on, where somebody is looking and it takes long. */
export interface Progress {
  /** What is done now; shown once half a second has passed, and at most ten times a second. */
  (what: string): void;
  /** Shows it at once: before what takes long and cannot say so itself. */
  now(what: string): void;
  /** Takes the line away. */
  end(): void;
}

/** Progress on standard error, which is one line that is written over. */
export function progressOn(stream: Stream, isWanted: boolean): Progress {
  const isShown = isWanted && stream.isTTY === true;
  let [next, isThere] = [Date.now() + 500, false];
  const now = (what: string): void => {
    if (!isShown) return;
    stream.write(`\r\u001B[K${what.slice(0, (stream.columns || 80) - 1)}`);
    isThere = true;
  };
  const progress = (what: string): void => {
    if (!isShown || Date.now() < next) return;
    next = Date.now() + 100;
    now(what);
  };
  const end = (): void => {
    if (isThere) stream.write("\r\u001B[K");
    isThere = false;
  };
  return Object.assign(progress, { now, end });
}
