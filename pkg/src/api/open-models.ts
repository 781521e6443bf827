/** Vocabularies of open models. */

import { utf8 } from "../coders.js";
import { callJson } from "../call.js";
import { asBytes } from "../source.js";
import type { ReadonlyData } from "../types/common.js";
import { invalid, jsonOf } from "./checked.js";

/** A `tokenizer.json` of Hugging Face, parsed. */
export interface TokenizerJson {
  model: object;
  [field: string]: unknown;
}

/**
 * Converts a `tokenizer.json` of Hugging Face (text, bytes or parsed) into a vocabulary asset for `loadVocabulary`,
 * under a name of your choice. The asset can be stored; it has a tenth to a fifth of the size.
 *
 * The model must be byte-level byte pair encoding with a known pattern; docs/vocabularies.md lists them. Special added
 * tokens become special tokens; other added tokens, such as `<think>` or a run of white space, are recognized in every
 * text. The `post_processor` is ignored.
 *
 * @throws {CtxweaveError} `invalid_input` with the path in the file if it is malformed or cannot be converted, like a
 *   SentencePiece tokenizer; `invalid_vocabulary` if its merges cannot be counted exactly
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
