/** Standard output and standard error, with colors and progress on a terminal only. */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { exits, Failure } from "./failure.js";

/** The meaning of a part of a report. */
export type Tone = "strong" | "faint" | "good" | "warning" | "error";

/** A line of a report: plain text, or parts with tones. */
export type Line = string | readonly (string | readonly [Tone, string])[];

const codes: Record<Tone, readonly [number, number]> = {
  strong: [1, 22],
  faint: [2, 22],
  good: [32, 39],
  warning: [33, 39],
  error: [31, 39],
};

type Stream = NodeJS.WriteStream;

/** Whether colors may be written to the stream: see no-color.org. */
export function hasColors(stream: Stream): boolean {
  const { FORCE_COLOR, NO_COLOR, TERM } = process.env;
  if (FORCE_COLOR) return FORCE_COLOR !== "0";
  return stream.isTTY === true && !NO_COLOR && TERM !== "dumb";
}

/** A text with the codes of a tone, if the stream shows colors. */
export function painted(stream: Stream, tone: Tone, text: string): string {
  if (!hasColors(stream)) return text;
  const [on, off] = codes[tone];
  return `\u001B[${on}m${text}\u001B[${off}m`;
}

/** A text without control characters, which a terminal would execute; unchanged for a file or a pipe. */
export function escaped(stream: Stream, text: string): string {
  if (stream.isTTY !== true) return text;
  // eslint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\r(?!\n)/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
}

/** Writes the lines of a report to standard error. */
export function report(lines: readonly Line[]): void {
  const stream = process.stderr;
  const shown = lines.map((line) =>
    (typeof line === "string" ? [line] : line)
      .map((part) =>
        typeof part === "string" ? escaped(stream, part) : painted(stream, part[0], escaped(stream, part[1])),
      )
      .join(""),
  );
  if (shown.length > 0) process.stderr.write(`${shown.join("\n")}\n`);
}

/** Writes a result: to a file, or to standard output. */
export async function write(result: string | Uint8Array, file: string | undefined): Promise<void> {
  if (file !== undefined && file !== "-") return writeFile(file, result);
  if (typeof result !== "string" && process.stdout.isTTY && !isText(result)) {
    throw new Failure(exits.usage, "the result is binary; give `--out FILE` or pipe it");
  }
  // The shell prompt gets its own line.
  const needsNewline = process.stdout.isTTY && typeof result === "string" && !result.endsWith("\n");
  await new Promise<void>((done, failed) => {
    process.stdout.write(needsNewline ? `${result}\n` : result, (error) => (error ? failed(error) : done()));
  });
}

/** Writes files below a folder, and creates the folders that they need. */
export function writeFolder(folder: string, files: readonly { path: string; content: string }[]): void {
  for (const { path, content } of files) {
    const file = join(folder, path);
    try {
      mkdirSync(dirname(file), { recursive: true });
    } catch (error) {
      throw new Failure(exits.file, `cannot create the folder \`${dirname(file)}\`: ${reason(error)}`, {
        cause: error,
      });
    }
    writeFile(file, content);
  }
}

/** Writes a file into an existing folder. */
export function writeFile(file: string, content: string | Uint8Array): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw new Failure(exits.file, `cannot write \`${file}\`: ${reason(error)}`, { cause: error });
  }
}

/** The system's error for a file, as text. */
export function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const known: Record<string, string> = {
    ENOENT: "no such file or folder",
    EACCES: "permission denied",
    EPERM: "permission denied",
    EISDIR: "it is a folder",
    ELOOP: "it is a loop of symbolic links",
    ENOSPC: "no space left on the device",
    ENOTDIR: "part of the path is not a folder",
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

/** Progress of a long command. */
export interface Progress {
  /** The current action; shown after half a second, and at most ten times a second. */
  (what: string): void;
  /** Shows the action at once, before a long blocking call. */
  now(what: string): void;
  /** Clears the line. */
  end(): void;
}

/** Progress on standard error, as one line that is overwritten. */
export function progressOn(stream: Stream, isWanted: boolean): Progress {
  const isShown = isWanted && stream.isTTY === true;
  let [next, isVisible] = [Date.now() + 500, false];
  const now = (what: string): void => {
    if (!isShown) return;
    stream.write(`\r\u001B[K${what.slice(0, (stream.columns || 80) - 1)}`);
    isVisible = true;
  };
  const progress = (what: string): void => {
    if (!isShown || Date.now() < next) return;
    next = Date.now() + 100;
    now(what);
  };
  const end = (): void => {
    if (isVisible) stream.write("\r\u001B[K");
    isVisible = false;
  };
  return Object.assign(progress, { now, end });
}
