/** The program for each tool: it loads entry points and vocabularies and compares their counts. */

const text = "Call me Ishmael. 吾輩は猫である <|endoftext|> 12345";

/** tiktoken's counts of the text. */
const counts = { o200k_base: 23, o200k_harmony: 23, cl100k_base: 27, gpt2: 28 };

/** The module of each vocabulary. */
const vocabularies = {
  o200k_base: "ctxweave/vocab/o200k_base",
  cl100k_base: "ctxweave/vocab/cl100k_base",
  o200k_harmony: "ctxweave/vocab/o200k_harmony",
  gpt2: "ctxweave-vocab/gpt2",
};

/** All imports of a program, and the minimum of most programs. */
export const all = {
  entries: [
    "ctxweave",
    ...["chat", "commits", "folders", "loom", "operators", "tokens", "workspace"].map((area) => `ctxweave/${area}`),
  ],
  tokenizers: Object.keys(vocabularies),
};
export const first = { entries: ["ctxweave"], tokenizers: ["o200k_base"] };
export const tokens = { entries: ["ctxweave/tokens"], tokenizers: ["o200k_base"] };

/** The areas that have every encoding. */
const every = ["ctxweave", "ctxweave/tokens"];

/** The source of a module with a function `run`, which returns "OK" or throws: an ES module, or CommonJS. */
export function program({ entries, tokenizers, suffix = "" }, { cjs = false } = {}) {
  const load = (as, from) => (cjs ? `const ${as} = require("${from}");` : `import * as ${as} from "${from}";`);
  const checks = entries.flatMap((entry, at) =>
    tokenizers
      .filter((name) => every.includes(entry) || ["o200k_base", "cl100k_base"].includes(name))
      .map(
        (name) =>
          `  check("${entry}", "${name}", entry${at}.countTokens(text, { tokenizer: "${name}" }), ${counts[name]});`,
      ),
  );
  return `${entries.map((entry, at) => load(`entry${at}`, entry)).join("\n")}
${tokenizers.map((name, at) => load(`vocabulary${at}`, vocabularies[name] + suffix)).join("\n")}
const text = ${JSON.stringify(text)};
function check(entry, name, count, expected) {
  if (count !== expected) throw new Error(entry + " counts " + count + " by " + name + ", not " + expected);
}
async function run() {
  await Promise.all([${entries.map((_, at) => `entry${at}.init()`).join(", ")}]);
  await Promise.all([${tokenizers.map((_, at) => `vocabulary${at}.load()`).join(", ")}]);
${checks.join("\n")}
  return "OK";
}
${cjs ? "module.exports = { run };" : "export { run };"}
`;
}

/** An error in one line. */
export const said = `(error) => "FAIL " + (error.code ?? error.name) + " " + (error.details?.reason ?? "") + ": " + error.message`;

/** The main module of a page: its title reports the outcome. */
export const pageMain = `import { run } from "./program.mjs";
run().catch(${said}).then((outcome) => (document.title = outcome));
`;

/** The same in a worker. */
export const workerMain = (
  kind = "module",
) => `const worker = new Worker(new URL("./worker.mjs", import.meta.url), { type: "${kind}" });
worker.onmessage = ({ data }) => (document.title = data);
worker.onerror = (event) => (document.title = "FAIL worker: " + event.message);
`;
export const worker = `import { run } from "./program.mjs";
run().catch(${said}).then((outcome) => self.postMessage(outcome));
`;

/** The main module of a program for the command line: it prints the outcome. */
export const commandMain = (
  cjs = false,
) => `${cjs ? 'const { run } = require("./program.cjs");' : 'import { run } from "./program.mjs";'}
run().catch(${said}).then((outcome) => console.log(outcome));
`;

/** A page that runs a script. */
export const page = (script, attributes = 'type="module"') => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>waiting</title><link rel="icon" href="data:,"></head>
<body><script ${attributes} src="${script}"></script></body></html>
`;
