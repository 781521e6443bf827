/** The generated part of docs/command.md, from the helps of all commands. */

const LINE_WIDTH = 145;
const MAX_EXAMPLES = 2;

/** The example lines of a help. */
export const examplesIn = (help) =>
  help.match(/^ {2}.*npx ctxweave .*$/gm).filter((line) => !/COMMAND|\[|\.\.\./.test(line));

/** A section for each command, and one table of all options. */
export function pageOf(helps) {
  const commands = Object.entries(helps).map(([name, help]) => commandOf(name, help));
  return `${commands.map(section).join("\n")}\n## Options\n\n${optionTable(commands)}`;
}

function commandOf(name, help) {
  const [title, ...parts] = help.trimEnd().split(/\n\n(?=[a-z])/);
  const parted = Object.fromEntries(
    parts.map((part) => {
      const [heading, ...lines] = part.split("\n");
      return [heading, lines];
    }),
  );
  const [usage, , ...about] = parted.usage;
  return {
    name,
    summary: title.split(": ").slice(1).join(": "),
    usage: usage.trim(),
    about: about.map((line) => line.trim()).join(" "),
    options: [...rowsOf(parted.options ?? []), ...rowsOf(parted["options of every command"])],
    examples: examplesOf(parted.examples),
  };
}

/** Rows of two columns; the second column of a row may continue on further lines. */
function rowsOf(lines) {
  const rows = [];
  for (const line of lines) {
    const [, option, meaning] = /^ {2}(-.*?) {2,}(.*)$/.exec(line) ?? [];
    if (option) rows.push({ option, meaning });
    else rows.at(-1).meaning += ` ${line.trim()}`;
  }
  return rows;
}

/** Pairs of lines: `# description`, then the example. */
function examplesOf(lines) {
  const trimmed = lines.map((line) => line.trim());
  return trimmed.flatMap((line, at) => (at % 2 ? [{ line, description: trimmed[at - 1] }] : []));
}

function section({ name, usage, about, examples }) {
  const shown = examples.slice(0, MAX_EXAMPLES);
  const width = Math.max(...shown.map(({ line }) => line.length)) + 2;
  const lines = shown.map(({ line, description }) => line.padEnd(width) + description);
  return `### \`ctxweave ${name}\`\n\n${wrapped(about)}\n\n\`\`\`sh\n${[usage, ...lines].join("\n")}\n\`\`\`\n`;
}

/** Equal options of several commands share a row. */
function optionTable(commands) {
  const rows = new Map();
  for (const { name, options } of commands) {
    for (const { option, meaning } of options) {
      const key = `\`${option}\` | ${meaning.replaceAll("|", "\\|")}`;
      rows.set(key, [...(rows.get(key) ?? []), name]);
    }
  }
  const isCommon = ([, names]) => names.length === commands.length;
  const ordered = [...[...rows].filter(isCommon), ...[...rows].filter((row) => !isCommon(row))];
  const lines = ordered.map((row) => `| ${row[0]} | ${isCommon(row) ? "all" : row[1].join(", ")} |\n`);
  return `| option | meaning | commands |\n| --- | --- | --- |\n${lines.join("")}`;
}

function wrapped(text) {
  const lines = [""];
  // A span in backticks is not broken.
  for (const word of text.match(/(?:`[^`]*`|\S)+/g)) {
    const line = `${lines.at(-1)} ${word}`.trim();
    if (line.length <= LINE_WIDTH) lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return lines.join("\n");
}
