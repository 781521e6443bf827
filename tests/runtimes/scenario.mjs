/**
 * The calls made in every runtime, with nothing but the language: this file is bundled into pages and Workers. It
 * judges only what is visible inside; the test compares the outputs.
 */

/** Runs everything; returns the outputs as plain data. */
export async function scenario(ctxweave, { goldens, trees, media }) {
  const early = thrownBy(() => (ctxweave.countTokens ?? ctxweave.importLoom)("too early"));
  // Concurrent and repeated calls of init are one.
  await Promise.all([ctxweave.init(), ctxweave.init()]);
  await ctxweave.init();
  const outputs = goldens.map(({ name, ...golden }) => {
    const result = outcome(ctxweave, golden, { trees, media });
    return { name, output: `${JSON.stringify(result ?? null, null, 2)}\n` };
  });
  return { early: early?.code, version: ctxweave.version, counts: ctxweave.countTokens && counts(ctxweave), outputs };
}

/** The result of a golden's call, with bytes and maps written as in tests/it/calls. */
function outcome(ctxweave, { call, request, args = [request], steps, tree, media: withMedia }, { trees, media }) {
  const [first, ...others] = revived(args);
  const whole =
    tree || withMedia ? { ...first, ...(tree && { tree: trees[tree] }), ...(withMedia && { media }) } : first;
  const given = deepFreeze([whole, ...others]);
  if (!steps) return tried(ctxweave, call, () => ctxweave[call](...given));
  let instance;
  const failed = tried(ctxweave, call, () => void (instance = new ctxweave[call](...given)));
  if (failed) return failed;
  const results = deepFreeze(revived(steps)).map(([method, ...args]) =>
    tried(ctxweave, `${call}.${method}`, () => instance[method](...args)),
  );
  instance.free?.();
  return results;
}

/** The result, or `{ error }` with everything that a caller can see of the error. */
function tried(ctxweave, call, action) {
  let result;
  const error = thrownBy(() => {
    result = action();
  });
  if (error === undefined) return written(result);
  if (!(error instanceof ctxweave.CtxweaveError && error instanceof Error && error.name === "CtxweaveError")) {
    throw new Error(`\`${call}\` threw something other than a CtxweaveError`, { cause: error });
  }
  const { code, message, details } = error;
  return { error: { code, message, details } };
}

/** Restores an argument. */
function revived(value) {
  if (Array.isArray(value)) return value.map(revived);
  if (typeof value !== "object" || value === null) return value;
  if (typeof value.$text === "string") return new TextEncoder().encode(value.$text);
  if (typeof value.$hex === "string") {
    return Uint8Array.from(value.$hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
  }
  if (Array.isArray(value.$map)) return new Map(revived(value.$map));
  return Object.fromEntries(Object.entries(value).map(([key, value]) => [key, revived(value)]));
}

/** Writes a result as in the goldens. */
function written(value) {
  if (Array.isArray(value)) return value.map(written);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint32Array || value instanceof Float64Array) return [...value];
  if (value instanceof Uint8Array) {
    try {
      return { $text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(value) };
    } catch {
      return { $hex: Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("") };
    }
  }
  return Object.fromEntries(Object.entries(value).map(([key, value]) => [key, written(value)]));
}

/** All ways of counting the same texts. */
function counts(ctxweave) {
  const texts = ["", "a", "Call me Ishmael.", "吾輩は猫である。", "\ud83d\udc69\u200d\ud83d\ude80 in space"];
  const single = texts.map((text) => ctxweave.countTokens(text));
  const batch = ctxweave.countTokensBatch(texts);
  if (!(batch instanceof Uint32Array)) throw new Error("countTokensBatch does not give a Uint32Array");
  const upTo = texts.map((text, at) => ctxweave.countTokensUpTo(text, single[at]));
  const over = texts.slice(1).map((text, at) => ctxweave.countTokensUpTo(text, single[at + 1] - 1));
  return { single, batch: [...batch], upTo, over };
}

/**
 * Exact counting: tiktoken's counts, by every function that counts. `vocabularies` are the modules `ctxweave/vocab/*`
 * by encoding, undefined for the flavor that needs none. `texts` is the list in counts.json. Assemblies are counted
 * only if the area has them.
 */
export async function exact(ctxweave, vocabularies, texts) {
  await ctxweave.init();
  const codes = vocabularies && (await loaded(ctxweave, vocabularies));
  const strings = texts.map(([text]) => text);
  const wrong = [];
  for (const tokenizer of ["o200k_base", "cl100k_base"]) {
    const batch = ctxweave.countTokensBatch(strings, { tokenizer });
    for (const [at, [text, { [tokenizer]: count }]] of texts.entries()) {
      const single = ctxweave.countTokens(text, { tokenizer });
      const upTo = ctxweave.countTokensUpTo(text, count, { tokenizer });
      const over = count > 0 ? ctxweave.countTokensUpTo(text, count - 1, { tokenizer }) : null;
      if (batch[at] !== count || single !== count || upTo !== count || over !== null) {
        wrong.push({ tokenizer, text: text.slice(0, 40), count, batch: batch[at], single, upTo, over });
      }
    }
  }
  const spaces = ctxweave.countTokens(" ".repeat(1_000_000), { tokenizer: "o200k_base" });
  const assemblies = "assembleDialogue" in ctxweave && { assembled: assembled(ctxweave), own: own(ctxweave) };
  return { codes, counted: texts.length, wrong, spaces, ...assemblies };
}

/** Loads both vocabularies, after every possible mistake. */
async function loaded(ctxweave, vocabularies) {
  const tokenizer = "o200k_base";
  const notLoaded = thrownBy(() => ctxweave.countTokens("text", { tokenizer }));
  const bytes = await vocabularies[tokenizer].bytes();
  const damaged = bytes.slice();
  damaged[damaged.length >> 1] ^= 1;
  const code = (asset) => thrownBy(() => ctxweave.loadVocabulary(tokenizer, asset))?.code;
  const codes = {
    notLoaded: notLoaded?.code,
    damaged: code(damaged),
    torn: code(bytes.subarray(0, bytes.length - 1)),
    empty: code(new Uint8Array()),
    other: code(await vocabularies.cl100k_base.bytes()),
    noBytes: code("bytes"),
    still: thrownBy(() => ctxweave.countTokens("text", { tokenizer }))?.code,
  };
  const progress = [];
  const { load } = vocabularies[tokenizer];
  await Promise.all([load({ onProgress: (...sizes) => progress.push(sizes) }), load()]);
  await load({ source: "never asked for" });
  await vocabularies.cl100k_base.load();
  if (Object.entries(vocabularies).some(([name, module]) => module.name !== name)) throw new Error("wrong names");
  // Manually, in the other form, over the loaded one.
  ctxweave.loadVocabulary(tokenizer, bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  const total = bytes.length;
  const rising = progress.every(([loaded], at) => at === 0 || loaded > progress[at - 1][0]);
  return { ...codes, progress: rising && progress.at(-1)?.[0] === total && progress.at(-1)[1] === total };
}

/** The total of an assembly and of a recount of its messages. */
function assembled(ctxweave) {
  const nodes = Array.from({ length: 40 }, (_, at) => ({
    id: `n${at}`,
    authorType: at % 2 ? "model" : "human",
    content: `message ${at}: ${"and so on, <|endoftext|> 日本語 \ud83d\ude00 ".repeat(at)}`,
  }));
  const edges = nodes
    .slice(1)
    .map(({ id }, at) => ({ id: `e${at}`, sources: [{ nodeId: nodes[at].id }], targetNodeId: id }));
  return ["o200k_base", "cl100k_base"].map((tokenizer) => {
    const request = { tree: { nodes, edges }, tip: "n39", contextWindow: 4096, tokenizer };
    const { messages, report } = ctxweave.assembleDialogue(request);
    const recount = messages.reduce((sum, { content }) => sum + ctxweave.countTokens(content, { tokenizer }), 0);
    return { tokens: report.tokens, messages: messages.length, limit: report.limit, recount };
  });
}

/** A custom tokenizer with one token for each character; then one that throws. */
function own(ctxweave) {
  const tree = { nodes: [{ id: "n", authorType: "human", content: "twelve chars" }], edges: [] };
  const request = { tree, tip: "n", contextWindow: 4096 };
  const report = (tokenizer) => ctxweave.assembleDialogue({ ...request, tokenizer }).report.tokens;
  const characters = { name: "characters", count: (text) => text.length };
  const throwing = {
    count() {
      throw new RangeError("out of order");
    },
  };
  const { code, message } = thrownBy(() => report(throwing)) ?? {};
  const nonsense = thrownBy(() => report({ count: () => -1 }))?.code;
  return { tokens: report(characters), code, message, nonsense };
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
  // The bytes of a typed array cannot be frozen.
  if (typeof value === "object" && value !== null && !ArrayBuffer.isView(value) && !Object.isFrozen(value)) {
    Object.freeze(value);
    if (value instanceof Map) deepFreeze([...value]);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
