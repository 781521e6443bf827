/** A command: its name, its help and its function. */

import { type Arguments, flag, type Options, text, type Values } from "./arguments.js";
import type { Line, Progress } from "./output.js";

/** Options of every command. */
export const common = {
  json: flag("write result and report to stdout as one JSON object, and errors as JSON"),
  out: text("FILE", "write the result to FILE instead of stdout"),
  quiet: flag("write no report"),
  help: flag("show this help"),
};

/** The outcome of a command, before anything is written. */
export interface Outcome {
  /** For standard output, or the file of `--out`. Absent if there is only a report. */
  result?: string | Uint8Array;
  /** The named result, which `--json` writes unless `--out` is given. */
  named: Readonly<Record<string, unknown>>;
  /** The report of `--json`. */
  report: Readonly<Record<string, unknown>>;
  /** The report for people, for standard error. */
  lines: readonly Line[];
  /** Files for the folder of `--out`, in place of the result. */
  folder?: readonly { path: string; content: string }[];
  /** Other files to write, after the result. */
  files?: readonly { path: string; content: string }[];
  /** Default 0. */
  exit?: number;
}

/** A command line for the help. */
export interface Example {
  description: string;
  /** For a shell: `npx ctxweave …`, or a pipe into it. */
  line: string;
}

/** Services of the program for its commands. */
export interface Host {
  progress: Progress;
}

/** The declaration of a command. */
export interface Declared<Of extends Options> {
  /** Its words: `chat`, `session convert`. */
  name: string;
  /** One line, without a period. */
  summary: string;
  /** The usage after the name: `[FILE]`. */
  usage: string;
  /** A paragraph about input and output. */
  about: string;
  options: Of;
  examples: readonly Example[];
  run(values: Values<Of>, operands: readonly string[], host: Host): Promise<Outcome>;
}

/** A command with any options. */
export interface Command extends Omit<Declared<Options>, "run"> {
  run(args: Arguments<Options>, host: Host): Promise<Outcome>;
}

/** Creates a command from its declaration and adds the common options. */
export function command<Of extends Options>({ run, ...declared }: Declared<Of>): Command {
  return {
    ...declared,
    options: { ...declared.options, ...common },
    run: ({ values, operands }, host) => run(values as Values<Of>, operands, host),
  };
}
