/**
 * What is done in every runtime, with nothing but the language: it is bundled into pages and Workers as it is. Nothing
 * is judged here but what only shows inside; the test compares the outputs.
 */

/** Runs it all and gives what came out, as plain data. */
export async function scenario(ctxweave, { goldens, trees, media }) {
  const early = thrownBy(() => ctxweave.countTokens("too early"));
  // Concurrent and repeated calls of init are one.
  await Promise.all([ctxweave.init(), ctxweave.init()]);
  await ctxweave.init();
  const outputs = goldens.map(({ name, call, request, tree, media: withMedia }) => {
    const input = deepFreeze({ ...request, ...(tree && { tree: trees[tree] }), ...(withMedia && { media }) });
    return { name, output: `${JSON.stringify(outcome(ctxweave, call, input), null, 2)}\n` };
  });
  return { early: early?.code, version: ctxweave.version, counts: counts(ctxweave), outputs };
}

/** The result, or `{ error }` when it throws, with all that a caller can see of the error. */
function outcome(ctxweave, call, input) {
  let result;
  const error = thrownBy(() => {
    result = ctxweave[call](input);
  });
  if (error === undefined) return result;
  if (!(error instanceof ctxweave.CtxweaveError && error instanceof Error && error.name === "CtxweaveError")) {
    throw new Error(`\`${call}\` threw something that is no CtxweaveError`, { cause: error });
  }
  const { code, message, details } = error;
  return { error: { code, message, details } };
}

/** Each way of counting says the same of the same texts. */
function counts(ctxweave) {
  const texts = ["", "a", "Call me Ishmael.", "吾輩は猫である。", "\ud83d\udc69\u200d\ud83d\ude80 in space"];
  const single = texts.map((text) => ctxweave.countTokens(text));
  const batch = ctxweave.countTokensBatch(texts);
  if (!(batch instanceof Uint32Array)) throw new Error("countTokensBatch does not give a Uint32Array");
  const upTo = texts.map((text, at) => ctxweave.countTokensUpTo(text, single[at]));
  const over = texts.slice(1).map((text, at) => ctxweave.countTokensUpTo(text, single[at + 1] - 1));
  return { single, batch: [...batch], upTo, over };
}

function thrownBy(action) {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}

function deepFreeze(value) {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
