/**
 * The context assembler of a Loom front end: it takes the entities of the store and returns a completion request.
 *
 * `assemble(request)` covers both modes: messages in dialogue mode, a document in buffer mode.
 */

import { CtxweaveError, init, assembleBuffer, assembleDialogue } from "ctxweave/loom";

/** The preferences of the application; those of a tree take precedence. */
export const DEFAULTS = { truncationStrategy: "truncateMiddle", minimumRecentNodes: 4, tokenBuffer: 1024 };

/**
 * @param request.tree the tree, with `nodes` and `edges` as in the store
 * @param request.tip the current node
 * @param request.agent the agent, with `configuration.systemPrompt`
 * @param request.contextWindow of the model
 * @param request.nativeSystemPrompt false for providers without a field for it
 */
export async function assemble({ tree, tip, agent, contextWindow, workingBuffer, nativeSystemPrompt = true, ...rest }) {
  await init();
  const request = {
    tree,
    tip,
    agent,
    contextWindow,
    appPreferences: DEFAULTS,
    provider: { nativeSystemPrompt },
    // The count that the design document describes: four characters per token.
    tokenizer: "characters",
    ...rest,
  };
  try {
    const isBuffer = tree.mode === "buffer";
    const result = isBuffer ? assembleBuffer({ ...request, workingBuffer }) : assembleDialogue(request);
    return completion(result);
  } catch (error) {
    if (!(error instanceof CtxweaveError) || !error.code.endsWith("_too_long")) throw error;
    // For the user: the nodes that cost most, to exclude them.
    return { ok: false, reason: error.code, message: error.message, ...error.details };
  }
}

/** The request for the provider, and the flags of its truncation. */
function completion({ system, messages, document, report }) {
  return {
    ok: true,
    ...(system !== undefined && { systemPrompt: system }),
    ...(messages ? { messages: messages.map(({ role, content }) => ({ role, content })) } : { prompt: document }),
    truncated: report.truncated,
    estimatedTokens: report.tokens.total,
    removedNodeIds: report.cut?.nodeIds ?? [],
    warnings: report.diagnostics.map(({ message }) => message),
  };
}
