/** `ctxweave dialogue`: a path of a Loom tree as messages. */

import { flag, text } from "./arguments.js";
import { command } from "./command.js";
import { conversationText } from "./conversation.js";
import { shorteningOptions } from "./fit-options.js";
import { jsonOf, oneInput } from "./input.js";
import { agentOf, assemblyLines, loomOptions, loomRequest } from "./loom.js";
import { json } from "./report.js";

export const dialogue = command({
  name: "dialogue",
  summary: "turn a path through a Loom tree into messages",
  usage: "[FILE] (--model NAME | --context-window N) [options]",
  about: `FILE is JSON: a Loom tree, \`{ nodes, edges }\`, or a request of \`assembleDialogue\`. The path from the root to the
    tip becomes \`{ system, messages }\`, within the limit.`,
  options: {
    ...loomOptions,
    ...shorteningOptions,
    system: text("TEXT", "system prompt; `@FILE` reads a file"),
    text: flag("readable text instead of JSON"),
  },
  examples: [
    {
      description: "a path for a window of 4,000 tokens",
      line: "npx ctxweave dialogue tree.json --tip q2 --context-window 4000",
    },
    { description: "as readable text", line: "npx ctxweave dialogue tree.json --model gpt-4o --text" },
  ],
  async run(values, operands) {
    const input = await oneInput(operands);
    const { loom, request } = await loomRequest(jsonOf(input), input.name, values);
    const { system, messages, report } = loom.assembleDialogue({ ...request, ...agentOf(request, values.system) });
    const named = { ...(system === undefined ? {} : { system }), messages };
    return {
      result: values.text ? conversationText(system, messages, true) : json(named),
      named,
      report: { report },
      lines: assemblyLines(report),
    };
  },
});
