#!/usr/bin/env node
/** `npx ctxweave`: finds the command, runs it and writes its outcome. */

import { CtxweaveError } from "../error.js";
import { version } from "../version.js";
import { readArguments, unknownName, type Values } from "./arguments.js";
import { type Command, common, type Outcome } from "./command.js";
import { commands } from "./commands.js";
import { exits, Failure, misused } from "./failure.js";
import { commandHelp, groupHelp, programHelp } from "./help.js";
import { escaped, type Line, painted, progressOn, reason, report, write, writeFile, writeFolder } from "./output.js";
import { json } from "./report.js";

const typed = process.argv.slice(2);
// `help chat` is `chat --help`.
const args = typed[0] === "help" && typed.length > 1 ? [...typed.slice(1), "--help"] : typed;

// A reader such as `head` may close the pipe early.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(exits.done);
  process.exit(failed(new Failure(exits.file, `cannot write to standard output: ${reason(error)}`)));
});

try {
  process.exitCode = await main();
} catch (thrown) {
  process.exitCode = failed(thrown);
}

async function main(): Promise<number> {
  const [first, second] = args;
  if (first === undefined || first === "help" || first === "--help" || first === "-h")
    return shown(programHelp(commands));
  if (first === "--version" || first === "-v") return shown(version);
  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  const alone = commands.find(({ name }) => name === first);
  if (group.length > 0 && !alone && (second === undefined || second === "--help" || second === "-h")) {
    return shown(groupHelp(first, group));
  }
  const words = group.length > 0 ? `${first} ${second}` : first;
  const command = commands.find(({ name }) => name === words) ?? alone;
  if (command) return run(command, args.slice(command.name.split(" ").length));
  const names = (group.length > 0 ? group : commands).map(({ name }) => name);
  throw misused(unknownName(`unknown command \`${words}\``, words, names));
}

async function shown(text: string): Promise<number> {
  await write(`${text}\n`, undefined);
  return exits.done;
}

async function run(command: Command, args: readonly string[]): Promise<number> {
  const read = readArguments(command.options, args);
  const { help, json: isJson, quiet, out } = read.values as unknown as Values<typeof common>;
  if (help) return shown(commandHelp(command));
  const progress = progressOn(process.stderr, !quiet && !isJson);
  let outcome: Outcome;
  try {
    outcome = await command.run(read, { progress });
  } finally {
    progress.end();
  }
  const { result, named, report: about, lines, folder, files = [], exit = exits.done } = outcome;
  if (folder !== undefined && out !== undefined && out !== "-") writeFolder(out, folder);
  else if (result !== undefined && (out !== undefined || !isJson)) await write(shownResult(result, out), out);
  for (const { path, content } of files) writeFile(path, content);
  if (isJson) await write(json(out === undefined ? { ...named, ...about } : about), undefined);
  else if (!quiet) report(typedLines(lines));
  return exit;
}

/** A result as it is written: on a terminal without control characters from files. */
function shownResult(result: string | Uint8Array, out: string | undefined): string | Uint8Array {
  const isShown = (out === undefined || out === "-") && process.stdout.isTTY === true;
  return isShown && typeof result === "string" ? escaped(process.stdout, result) : result;
}

/** Reports an error and returns the exit code. */
function failed(thrown: unknown): number {
  const isOurs = thrown instanceof CtxweaveError;
  const isBug = isOurs ? thrown.code === "internal_error" : !(thrown instanceof Failure);
  const ofInput = isOurs && isAboutOption(thrown) ? exits.usage : exits.input;
  const exit = isBug ? exits.bug : thrown instanceof Failure ? thrown.exit : ofInput;
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const message = isOurs ? asTyped(error.message) : error.message;
  if (args.includes("--json")) {
    const more = isOurs ? { code: thrown.code, details: thrown.details } : {};
    process.stderr.write(json({ error: { message, ...more, exit } }));
    return exit;
  }
  const text = escaped(process.stderr, isBug ? (error.stack ?? message) : message);
  process.stderr.write(`${painted(process.stderr, "error", "error")}: ${text}\n`);
  if (isOurs) report([[["faint", `  code: ${thrown.code}${hasCosts(thrown) ? "; `--json` lists all costs" : ""}`]]]);
  if (exit === exits.usage) report([[["faint", `  see \`npx ctxweave ${helpOf()}\``]]]);
  return exit;
}

/** The arguments that show the help of the typed command, or that of the program. */
function helpOf(): string {
  const named = (words: string | undefined) => commands.find(({ name }) => name === words);
  const command = named(args.slice(0, 2).join(" ")) ?? named(args[0]);
  const isGroup = commands.some(({ name }) => name.startsWith(`${args[0]} `));
  return command ? `${command.name} --help` : isGroup ? `${args[0]} --help` : "--help";
}

/** A message of the library with command-line names: `options.contextWindow` becomes `--context-window`. */
function asTyped(message: string): string {
  const options = commands.flatMap(({ options }) => Object.keys(options));
  return message.replaceAll(
    /([`(])(?:options\.([a-zA-Z]+)|([a-z]+(?:[A-Z][a-z]+)+))(?=[`)])/g,
    (whole, mark: string, option?: string, word?: string) => {
      const typed = typedName(option ?? word ?? "");
      return options.includes(typed) ? `${mark}--${typed}` : whole;
    },
  );
}

/** The name of an option as typed: `contextWindow` becomes `context-window`. */
function typedName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Whether the value of an option that was typed is invalid. */
function isAboutOption({ code, details }: CtxweaveError): boolean {
  // Limits come from options alone.
  if (code === "invalid_budget") return true;
  if (code !== "unknown_value" && code !== "invalid_input") return false;
  const { path } = details as { path?: unknown };
  const [, name] = (typeof path === "string" && /^(?:options\.)?([a-zA-Z]+)$/.exec(path)) || [];
  const option = `--${typedName(name ?? "")}`;
  return name !== undefined && args.some((arg) => arg === option || arg.startsWith(`${option}=`));
}

/** The lines of a report with command-line names. */
function typedLines(lines: readonly Line[]): Line[] {
  return lines.map((line) =>
    typeof line === "string"
      ? asTyped(line)
      : line.map((part) => (typeof part === "string" ? asTyped(part) : ([part[0], asTyped(part[1])] as const))),
  );
}

function hasCosts({ details }: CtxweaveError): boolean {
  return "messages" in details || "nodes" in details;
}
