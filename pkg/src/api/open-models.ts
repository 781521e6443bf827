/** Vocabularies of open models. */

import { utf8 } from "../coders.js";
import { callJson } from "../call.js";
import { asBytes } from "../source.js";
import type { ReadonlyData } from "../types/common.js";
import { invalid, jsonOf } from "./checked.js";

/** A `tokenizer.json` of Hugging Face, as `JSON.parse` gives it. */
export interface TokenizerJson {
  model: object;
  [field: string]: unknown;
}

/**
 * The vocabulary asset of a `tokenizer.json` of Hugging Face, given as text, as bytes or parsed: for `loadVocabulary`, here or
 * elsewhere, under a name of your own. It can be kept in a file; it is a fifth to a tenth as large.
 *
 * The model has to be byte-level byte pair encoding with one of the patterns that are known; docs/vocabularies.md has the list. Tokens
 * that are added to the model are special tokens of the vocabulary. What is put before and after a text (`post_processor`) is left out.
 *
 * @throws {CtxweaveError} `invalid_input` with the place in the file for what is no such file and for what cannot be converted, as a
 *   tokenizer of SentencePiece; `invalid_vocabulary` where its merges are none that can be counted exactly
 */
export function vocabularyOf(
  tokenizerJson: string | ArrayBuffer | ArrayBufferView | ReadonlyData<TokenizerJson>,
): Uint8Array<ArrayBuffer> {
  const bytes = asBytes(tokenizerJson, "tokenizerJson") ?? encoded(tokenizerJson);
  return callJson("vocabularyOf", { tokenizerJson: bytes }) as Uint8Array<ArrayBuffer>;
}

function encoded(tokenizerJson: unknown): Uint8Array {
  const isObject = typeof tokenizerJson === "object" && tokenizerJson !== null;
  const text = isObject ? jsonOf(tokenizerJson, "tokenizerJson") : tokenizerJson;
  if (typeof text !== "string")
    throw invalid("tokenizerJson", "the text, the bytes or the parsed object of a `tokenizer.json`");
  return utf8().encode(text);
}
