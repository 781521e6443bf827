// The compared counters as installed from npm: for each a module that initializes it and returns its function.

/** Source of a module whose `ready()` returns `(text) => count`, for a runtime: `node`, `chromium` or `workerd`. */
export const counters = {
  ctxweave: (encoding) => `
    import { countTokens, init } from "ctxweave";
    import { load } from "ctxweave/vocab/${encoding}";
    export async function ready() {
      await Promise.all([init(), load()]);
      return (text) => countTokens(text, { tokenizer: "${encoding}" });
    }`,

  "ctxweave/tokens": (encoding, runtime) => `
    import { countTokens, init } from "ctxweave/tokens";
    import { load } from "ctxweave/tokens/vocab/${encoding}";
    export async function ready() {
      const options = ${runtime === "chromium" ? `{ source: new URL("./${encoding}.bin", import.meta.url) }` : undefined};
      await Promise.all([init(), load(options)]);
      return (text) => countTokens(text, { tokenizer: "${encoding}" });
    }`,

  "ctxweave-tiktoken": (encoding) => `
    import { countTokens, init } from "ctxweave-tiktoken";
    export async function ready() {
      await init();
      return (text) => countTokens(text, { tokenizer: "${encoding}" });
    }`,

  "gpt-tokenizer": (encoding) => `
    import { countTokens } from "gpt-tokenizer/encoding/${encoding}";
    const plain = { disallowedSpecial: new Set() };
    export const ready = async () => (text) => countTokens(text, plain);`,

  "ai-tokenizer": (encoding) => `
    import Tokenizer from "ai-tokenizer";
    import * as ranks from "ai-tokenizer/encoding/${encoding}";
    export async function ready() {
      const tokenizer = new Tokenizer(ranks);
      return (text) => tokenizer.encode(text, [], []).length;
    }`,

  tiktoken: (encoding, runtime) => `
    ${
      {
        node: `import { get_encoding } from "tiktoken";
               const start = async () => {};`,
        chromium: `import { get_encoding, init } from "tiktoken/init";
               const start = () => init((imports) =>
                 WebAssembly.instantiateStreaming(fetch(new URL("./tiktoken_bg.wasm", import.meta.url)), imports));`,
        workerd: `import { get_encoding, init } from "tiktoken/init";
               import wasm from "tiktoken/tiktoken_bg.wasm";
               const start = () => init((imports) => WebAssembly.instantiate(wasm, imports));`,
      }[runtime]
    }
    export async function ready() {
      await start();
      const tokenizer = get_encoding("${encoding}");
      return (text) => tokenizer.encode_ordinary(text).length;
    }`,

  "js-tiktoken": (encoding) => `
    import { Tiktoken } from "js-tiktoken/lite";
    import ranks from "js-tiktoken/ranks/${encoding}";
    export async function ready() {
      const tokenizer = new Tiktoken(ranks);
      return (text) => tokenizer.encode(text, [], []).length;
    }`,
};

/** Variants that differ from another one only in how they start: they count with the same code. */
export const startsAlone = ["ctxweave/tokens"];

/** Files that the modules fetch in a browser, in addition to their code. */
export const assets = {
  ctxweave: (encoding) => ["ctxweave/ctxweave.wasm", `ctxweave/vocab/${encoding}.bin`],
  "ctxweave/tokens": (encoding) => ["ctxweave/tokens/ctxweave.wasm", `ctxweave/vocab/${encoding}.bin`],
  "ctxweave-tiktoken": () => ["ctxweave-tiktoken/ctxweave.wasm"],
  tiktoken: () => ["tiktoken/tiktoken_bg.wasm"],
};
