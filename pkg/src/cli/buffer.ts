/** `ctxweave buffer`: a path of a Loom tree as one document. */

import { text } from "./arguments.js";
import { command } from "./command.js";
import { given, jsonOf, oneInput, textOption } from "./input.js";
import { assemblyLines, loomOptions, loomRequest } from "./loom.js";

export const buffer = command({
  name: "buffer",
  summary: "a path through a tree of a text, as one document for a base model",
  usage: "[FILE] (--model NAME | --context-window N) [options]",
  about: `FILE is JSON: a Loom tree, \`{ nodes, edges }\`, or a whole request of \`assembleBuffer\`. The texts on the path from
    the root to the tip are joined as they stand, and cut to the limit.`,
  options: {
    ...loomOptions,
    "working-buffer": text("TEXT", "what is typed and not yet a node; `@FILE` reads it from a file"),
  },
  examples: [
    { description: "the story so far", line: "npx ctxweave buffer tree.json --tip q2 --context-window 4000" },
    {
      description: "with what is being typed",
      line: 'npx ctxweave buffer tree.json --context-window 4000 --working-buffer "And then"',
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
