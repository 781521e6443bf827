/** The areas of the package, each loaded on demand, and the tokenizers of the commands. */

import { basename } from "node:path";
import type { Tokenizer } from "../types/common.js";
import { text, unknownName } from "./arguments.js";
import { misused } from "./failure.js";
import { readFile } from "./input.js";

const entries = {
  all: () => import("../entries/default.js"),
  chat: () => import("../entries/chat.js"),
  commits: () => import("../entries/commits.js"),
  folders: () => import("../entries/folders.js"),
  loom: () => import("../entries/loom.js"),
  operators: () => import("../entries/operators.js"),
  tokens: () => import("../entries/tokens.js"),
  workspace: () => import("../entries/workspace.js"),
};

type Entries = { [Name in keyof typeof entries]: Awaited<ReturnType<(typeof entries)[Name]>> };

/** The encodings of the package. */
export const encodings = {
  o200k_base: () => import("../vocab/o200k_base.js"),
  cl100k_base: () => import("../vocab/cl100k_base.js"),
  o200k_harmony: () => import("../vocab/o200k_harmony.js"),
};

/** The encodings that every area accepts. */
const everywhere = ["o200k_base", "cl100k_base"];

/** The estimated tokenizers. */
const families = ["heuristic", "characters", "claude", "claude-3", "gemini", "gpt-4"];

/** Whether the counts of a tokenizer are estimates. */
export function isEstimate(tokenizer: string | undefined): boolean {
  return tokenizer === undefined || families.includes(tokenizer) || tokenizer.startsWith("calibrated:");
}

/** The option that selects the tokenizer. */
export const tokenizerOption = text(
  "NAME",
  `tokenizer (default: estimate): ${[...families, ...Object.keys(encodings)].map((name) => `\`${name}\``).join(", ")}, or a file: \`tokenizer.json\` or the output of \`ctxweave vocab\``,
);

/** Loads an area and the vocabulary of the tokenizer. */
export async function openArea<Name extends keyof Entries>(
  name: Name,
  tokenizer?: string,
): Promise<{ area: Entries[Name]; tokenizer?: Tokenizer }> {
  // Less common vocabularies use the module of all areas.
  const isSmall = tokenizer === undefined || families.includes(tokenizer) || everywhere.includes(tokenizer);
  const area = (await entries[isSmall || name === "tokens" ? name : "all"]()) as Entries[Name];
  await area.init();
  return tokenizer === undefined ? { area } : { area, tokenizer: await loaded(area, tokenizer) };
}

/** Loads the vocabulary of a tokenizer and returns its name. */
async function loaded(area: Entries[keyof Entries], tokenizer: string): Promise<Tokenizer> {
  if (families.includes(tokenizer) || tokenizer.startsWith("calibrated:")) return tokenizer;
  if (Object.hasOwn(encodings, tokenizer)) {
    const vocabulary = await encodings[tokenizer as keyof typeof encodings]();
    await vocabulary.load();
    return tokenizer;
  }
  if (!/[./\\]/.test(tokenizer)) {
    throw misused(
      unknownName(`unknown tokenizer \`${tokenizer}\``, tokenizer, [...families, ...Object.keys(encodings)]),
    );
  }
  const bytes = readFile(tokenizer);
  const name = basename(tokenizer);
  area.loadVocabulary(name, isJson(bytes) ? await vocabularyAsset(bytes) : bytes);
  return name;
}

/** The vocabulary asset of a `tokenizer.json`. */
export async function vocabularyAsset(bytes: Uint8Array): Promise<Uint8Array> {
  const { area } = await openArea("all");
  return area.vocabularyOf(bytes);
}

/** Whether the bytes begin with a JSON object. */
export function isJson(bytes: Uint8Array): boolean {
  return /^\uFEFF?\s*\{/.test(new TextDecoder().decode(bytes.subarray(0, 64)));
}

/** The tokenizer of a model, used unless another one is given. */
export async function tokenizerOf(model: string): Promise<string | undefined> {
  const { area } = await openArea("tokens");
  const info = area.modelInfo(model);
  return info?.tokenizer;
}
