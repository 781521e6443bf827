/** The help, which teaches by examples. */

import type { Command } from "./command.js";
import { common } from "./command.js";
import { dashed, type Option, type Options } from "./arguments.js";
import { painted } from "./output.js";

const exitCodes = `  0  done
  1  the input cannot be used, or a check that was asked for found something
  2  a command, an option or a value that there is not
  3  a file that cannot be read or written
  4  a mistake in ctxweave: please report it`;

/** The help of the program. */
export function programHelp(commands: readonly Command[]): string {
  const rows = commands.map(({ name, summary }) => [name, summary] as const);
  const examples = commands.flatMap(({ examples: [first] }) => (first ? [first] : []));
  return [
    `${strong("ctxweave")}: decide what a language model gets to see, and stay within its budget`,
    section("usage", "  npx ctxweave COMMAND [FILE] [options]\n  npx ctxweave COMMAND --help"),
    section("commands", table(rows)),
    section(
      "how it works",
      `  A command reads a file, or standard input where there is none. The result goes to standard output, or into
  the file of \`--out\`; the report of what was kept, cut and found goes to standard error.`,
    ),
    section("exit codes", exitCodes),
    section("one example of each", examples.map(shown).join("\n")),
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
  return `${help}${values}${kind === "list" ? "; may be given several times" : ""}`;
}

/** Two columns, the second one wrapped. */
function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length)) + 4;
  return rows.map(([left, right]) => `  ${left}`.padEnd(width) + wrapped(right, width).trimStart()).join("\n");
}

/** Lines of at most 110 characters, indented. */
function wrapped(text: string, indent: number): string {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1);
    if (line !== undefined && indent + line.length + 1 + word.length <= 110)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => " ".repeat(indent) + line).join("\n");
}
