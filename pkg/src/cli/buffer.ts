/** `ctxweave buffer`: a path of a Loom tree as one document. */

import { text } from "./arguments.js";
import { command } from "./command.js";
import { given, jsonOf, oneInput, textOption } from "./input.js";
import { assemblyLines, loomOptions, loomRequest } from "./loom.js";

export const buffer = command({
  name: "buffer",
  summary: "turn a path through a Loom tree into one document",
  usage: "[FILE] (--model NAME | --context-window N) [options]",
  about: `FILE is JSON: a Loom tree, \`{ nodes, edges }\`, or a request of \`assembleBuffer\`. The texts on the path from the
    root to the tip are concatenated, for a base model, and cut to the limit.`,
  options: {
    ...loomOptions,
    "working-buffer": text("TEXT", "text after the last node; `@FILE` reads a file"),
  },
  examples: [
    { description: "the document up to a node", line: "npx ctxweave buffer tree.json --tip q2 --context-window 4000" },
    {
      description: "with unsaved text at the end",
      line: 'npx ctxweave buffer tree.json --model gpt-4o --working-buffer "And then"',
    },
  ],
  async run(values, operands) {
    const input = await oneInput(operands);
    const { loom, request } = await loomRequest(jsonOf(input), input.name, values);
    const workingBuffer = textOption(values["working-buffer"]);
    const { document, report, ...others } = loom.assembleBuffer({ ...request, ...given({ workingBuffer }) });
    return { result: document, named: { document, ...others }, report: { report }, lines: assemblyLines(report) };
  },
});
