/** The help, at most 80 columns wide. */

import type { Command } from "./command.js";
import { common } from "./command.js";
import { dashed, type Option, type Options } from "./arguments.js";
import { painted } from "./output.js";

const HELP_WIDTH = 80;

const exitCodes = `  0  success
  1  invalid input
  2  unknown command or option, or an invalid value
  3  a file cannot be read or written
  4  internal error: please report it
  5  a file has more tokens than \`--limit\``;

/** The help of the program. */
export function programHelp(commands: readonly Command[]): string {
  const rows = commands.map(({ name, summary }) => [name, summary] as const);
  const examples = commands.flatMap(({ examples: [first] }) => (first ? [first] : []));
  return [
    `${strong("ctxweave")}: assemble the context of language models within a token budget`,
    section("usage", "  npx ctxweave COMMAND [FILE] [options]\n  npx ctxweave COMMAND --help"),
    section("commands", table(rows)),
    section(
      "input and output",
      wrapped(
        "A command reads a file, or stdin without one. The result goes to stdout or to the file of `--out`. The report of what was kept, removed and found goes to stderr.",
        2,
      ),
    ),
    section("exit codes", exitCodes),
    section("examples", examples.map(shown).join("\n")),
  ].join("\n\n");
}

/** The help of a group of commands: `session`. */
export function groupHelp(group: string, commands: readonly Command[]): string {
  const rows = commands.map(({ name, summary }) => [name, summary] as const);
  const examples = commands.flatMap(({ examples }) => examples);
  return [
    section("usage", `  npx ctxweave ${group} COMMAND [FILE] [options]`),
    section("commands", table(rows)),
    section("examples", examples.map(shown).join("\n")),
  ].join("\n\n");
}

/** The help of a command. */
export function commandHelp({ name, summary, usage, about, options, examples }: Command): string {
  const own = Object.entries(options).filter(([option]) => !Object.hasOwn(common, option));
  return [
    `${strong(`ctxweave ${name}`)}: ${summary}`,
    section("usage", `  npx ctxweave ${name} ${usage}`),
    wrapped(about, 2),
    ...(own.length > 0 ? [section("options", optionRows(Object.fromEntries(own)))] : []),
    section("options of every command", optionRows(common)),
    section("examples", examples.map(shown).join("\n")),
  ].join("\n\n");
}

const strong = (text: string): string => painted(process.stdout, "strong", text);

const section = (title: string, text: string): string => `${strong(title)}\n${text}`;

const shown = ({ description, line }: { description: string; line: string }): string =>
  `  ${painted(process.stdout, "faint", `# ${description}`)}\n  ${line}`;

function optionRows(options: Options): string {
  return table(
    Object.entries(options).map(([name, option]) => [
      `${name === "help" ? "-h, " : ""}${dashed(name)}${option.value ? ` ${option.value}` : ""}`,
      helpOf(option),
    ]),
  );
}

function helpOf({ help, choices, kind }: Option): string {
  const values = choices ? `: ${choices.map((name) => `\`${name}\``).join(", ")}` : "";
  return `${help}${values}${kind === "list" ? "; repeatable" : ""}`;
}

/** Two columns, the second one wrapped. */
function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length)) + 4;
  return rows.map(([left, right]) => `  ${left}`.padEnd(width) + wrapped(right, width).trimStart()).join("\n");
}

/** Wraps text at the width of the help, indented. */
function wrapped(text: string, indent: number): string {
  const lines: string[] = [];
  // A span in backticks is not broken.
  for (const word of text.replaceAll(/\s+/g, " ").match(/(?:`[^`]*`|\S)+/g) ?? []) {
    const line = lines.at(-1);
    if (line !== undefined && indent + line.length + 1 + word.length <= HELP_WIDTH)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => " ".repeat(indent) + line).join("\n");
}
