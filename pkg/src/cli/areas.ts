/** The package's own areas, each loaded by the command that needs it, and the tokenizers that commands count with. */

import { basename } from "node:path";
import type { Tokenizer } from "../types/common.js";
import { notKnown, text } from "./arguments.js";
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

/** The encodings that come with the package. */
export const encodings = {
  o200k_base: () => import("../vocab/o200k_base.js"),
  cl100k_base: () => import("../vocab/cl100k_base.js"),
  o200k_harmony: () => import("../vocab/o200k_harmony.js"),
};

/** The encodings that every area can count with. */
const everywhere = ["o200k_base", "cl100k_base"];

/** The families that are estimated. */
const families = ["heuristic", "claude", "claude-3", "gemini", "gpt-4"];

/** The option by which a command is told how to count. */
export const tokenizerOption = text(
  "NAME",
  `how to count: ${[...families, ...Object.keys(encodings)].map((name) => `\`${name}\``).join(", ")}, or a file: an open model's \`tokenizer.json\`, or what \`ctxweave vocab\` made of it; default \`heuristic\`, an estimate`,
);

/** Loads an area, and the vocabulary of the tokenizer, so that both can be used. */
export async function openArea<Name extends keyof Entries>(
  name: Name,
  tokenizer?: string,
): Promise<{ area: Entries[Name]; tokenizer?: Tokenizer }> {
  // All areas together have what the single ones have, and all vocabularies.
  const isSmall = tokenizer === undefined || families.includes(tokenizer) || everywhere.includes(tokenizer);
  const area = (await entries[isSmall || name === "tokens" ? name : "all"]()) as Entries[Name];
  await area.init();
  return tokenizer === undefined ? { area } : { area, tokenizer: await loaded(area, tokenizer) };
}

/** Loads what a tokenizer needs, and gives the name to count by. */
async function loaded(area: Entries[keyof Entries], tokenizer: string): Promise<Tokenizer> {
  if (families.includes(tokenizer) || tokenizer.startsWith("calibrated:")) return tokenizer;
  if (Object.hasOwn(encodings, tokenizer)) {
    const vocabulary = await encodings[tokenizer as keyof typeof encodings]();
    await vocabulary.load();
    return tokenizer;
  }
  if (!/[./\\]/.test(tokenizer)) {
    throw misused(notKnown("tokenizer", tokenizer, [...families, ...Object.keys(encodings)]));
  }
  const bytes = readFile(tokenizer);
  const name = basename(tokenizer);
  area.loadVocabulary(name, isJson(bytes) ? await vocabularyAsset(bytes) : bytes);
  return name;
}

/** What a `tokenizer.json` becomes. */
export async function vocabularyAsset(bytes: Uint8Array): Promise<Uint8Array> {
  const { area } = await openArea("all");
  return area.vocabularyOf(bytes);
}

/** Whether the bytes are the beginning of a JSON object. */
export function isJson(bytes: Uint8Array): boolean {
  return /^\uFEFF?\s*\{/.test(new TextDecoder().decode(bytes.subarray(0, 64)));
}

/** The tokenizer that a model has, where one was not asked for: loaded, so that its counts are exact where they can be. */
export async function tokenizerOf(model: string): Promise<string | undefined> {
  const { area } = await openArea("tokens");
  const info = area.modelInfo(model);
  return info?.tokenizer;
}
