/**
 * Assembles a prompt from a tree and reports on it: `node examples/prompt.mjs [tip] [contextWindow]` after
 * `cargo xtask build`. Uses the npm package like any program.
 */

import { readFileSync } from "node:fs";
import { assembleDialogue, CtxweaveError, init } from "ctxweave";

const [tip = "agent-36", contextWindow = "5000"] = process.argv.slice(2);

/** Maximum length of a shown text. */
const TEXT_MAX = 300;

await init();
try {
  const request = { tree: sample("agent"), media: sample("media"), tip, contextWindow: Number(contextWindow) };
  const { system, messages, report } = assembleDialogue(request);
  console.log(`Prompt: \`${request.tree.title}\` up to \`${tip}\`, for a context window of ${contextWindow} tokens`);
  if (system) heading("system", system);
  for (const { role, content, nodeIds } of messages) {
    heading(`${role}  ${nodeIds.join(" ")}`, typeof content === "string" ? content : content.map(shown).join("\n"));
  }
  printReport(report);
} catch (error) {
  if (!(error instanceof CtxweaveError)) throw error;
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = 1;
}

function sample(name) {
  return JSON.parse(readFileSync(new URL(`trees/${name}.json`, import.meta.url), "utf8"));
}

function heading(title, text) {
  const characters = [...text];
  const rest = characters.length - TEXT_MAX;
  const start = rest > 0 ? `${characters.slice(0, TEXT_MAX).join("")}… (${rest} more characters)` : text;
  console.log(`\n── ${title}\n${start}`);
}

/** One part of a message, on one or more lines. */
function shown(part) {
  switch (part.type) {
    case "text":
      return part.text;
    case "toolCall":
      return `[calls ${part.name} ${JSON.stringify(part.arguments)}]`;
    case "toolResult":
      return `[${part.isError ? "error" : "result"}] ${typeof part.content === "string" ? part.content : part.content.map(shown).join(" ")}`;
    case "reasoning":
      return `[thinks] ${part.text}`;
    default:
      return `[${part.type} ${part.ref}]`;
  }
}

function printReport({ strategy, limit, tokens, cut, nodes, diagnostics, notOnPath }) {
  console.log("\n── report");
  console.log(`strategy    ${strategy}`);
  console.log(
    `tokens      ${tokens.total} of at most ${limit}: system ${tokens.system}, messages ${tokens.messages}, overhead ${tokens.overhead} (${tokens.tokenizer})`,
  );
  console.log(
    `cut         ${cut ? `${cut.nodeIds.length} nodes, ${cut.tokens} tokens: ${cut.nodeIds.join(" ")}` : "nothing"}`,
  );
  for (const fate of ["kept", "changed", "cut", "excluded", "skipped"]) {
    const those = nodes.filter((node) => node.fate === fate);
    const total = those.reduce((sum, node) => sum + node.tokens, 0);
    const after = those.reduce((sum, node) => sum + (node.tokensAfter ?? 0), 0);
    const rest = fate === "changed" ? ` before, ${after} after: ${those.map((node) => node.nodeId).join(" ")}` : "";
    if (those.length > 0) console.log(`${fate.padEnd(12)}${those.length} nodes, ${total} tokens${rest}`);
  }
  console.log(`not on path ${notOnPath} nodes`);
  for (const { severity, code, message } of diagnostics) console.log(`${severity.padEnd(12)}${code}: ${message}`);
}
