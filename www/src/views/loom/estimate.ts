import { countTokensBatch } from "ctxweave/loom";
import type { BufferAssembly, DialogueAssembly, Encoding, Part } from "ctxweave/loom";

/**
 * The heuristic's total for an assembly that was counted exactly: the same texts are counted both ways. Media and
 * overhead do not depend on the tokenizer, so the totals differ by the texts alone.
 */
export function estimateOf(assembly: DialogueAssembly | BufferAssembly, exact: Encoding): number {
  const texts = textsOf(assembly);
  const { total } = assembly.report.tokens;
  return (
    total +
    sum(countTokensBatch(texts, { tokenizer: "heuristic" })) -
    sum(countTokensBatch(texts, { tokenizer: exact }))
  );
}

/** All texts that are sent, as counted by the library. */
function textsOf(assembly: DialogueAssembly | BufferAssembly): string[] {
  const texts =
    "document" in assembly
      ? [assembly.document]
      : assembly.messages.flatMap(({ content }) =>
          typeof content === "string" ? [content] : content.flatMap(textsOfPart),
        );
  return assembly.system === undefined ? texts : [assembly.system, ...texts];
}

function textsOfPart(part: Part): string[] {
  switch (part.type) {
    case "text":
    case "reasoning":
      return [part.text];
    case "toolCall":
      return [part.name, typeof part.arguments === "string" ? part.arguments : JSON.stringify(part.arguments)];
    case "toolResult":
      return typeof part.content === "string" ? [part.content] : part.content.flatMap(textsOfPart);
    case "vendor":
      return [typeof part.value.content === "string" ? part.value.content : JSON.stringify(part.value)];
    default:
      return [];
  }
}

function sum(counts: Uint32Array): number {
  return counts.reduce((total, tokens) => total + tokens, 0);
}
