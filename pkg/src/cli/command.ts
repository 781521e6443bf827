/** What a command is: how it is called, what its help says, what it does. */

import { type Arguments, flag, type Options, text, type Values } from "./arguments.js";
import type { Line, Progress } from "./output.js";

/** What every command takes. */
export const common = {
  json: flag("write result and report as one JSON object to standard output, and errors as JSON"),
  out: text("FILE", "write the result into FILE in place of standard output"),
  quiet: flag("write no report"),
  help: flag("show this help"),
};

/** What a command gives. Nothing of it has been written yet. */
export interface Outcome {
  /** For standard output, or the file of `--out`. Absent where there is only a report. */
  result?: string | Uint8Array;
  /** The result by name, as `--json` has it where there is no `--out`. */
  named: Readonly<Record<string, unknown>>;
  /** What `--json` has next to it. */
  report: Readonly<Record<string, unknown>>;
  /** The report for people, for standard error. */
  lines: readonly Line[];
  /** Other files to write, after the result. */
  files?: readonly { path: string; content: string }[];
  /** Default 0. */
  exit?: number;
}

/** A line that can be typed. */
export interface Example {
  description: string;
  /** For a shell, beginning with `npx ctxweave` or what is piped into it. */
  line: string;
}

/** What a command needs of the program. */
export interface Host {
  progress: Progress;
}

/** A command as it is declared. */
export interface Declared<Of extends Options> {
  /** Its words: `chat`, `session convert`. */
  name: string;
  /** One line, without a period. */
  summary: string;
  /** What stands after the name: `[FILE]`. */
  usage: string;
  /** A paragraph: what goes in and what comes out. */
  about: string;
  options: Of;
  examples: readonly Example[];
  run(values: Values<Of>, operands: readonly string[], host: Host): Promise<Outcome>;
}

/** A command, whatever its options are. */
export interface Command extends Omit<Declared<Options>, "run"> {
  run(args: Arguments<Options>, host: Host): Promise<Outcome>;
}

/** Makes a command of its declaration; the options that all have are added. */
export function command<Of extends Options>({ run, ...declared }: Declared<Of>): Command {
  return {
    ...declared,
    options: { ...declared.options, ...common },
    run: ({ values, operands }, host) => run(values as Values<Of>, operands, host),
  };
}
