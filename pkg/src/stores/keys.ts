/** The keys of a store. */

import { invalid } from "../api/checked.js";
import { artifactRef } from "../entries/commits.js";
import { fileName } from "./file-names.js";

export const BLOBS = "blobs/";
export const RECORDS = "records/";
export const HEADS = "heads/";
export const PRINCIPALS = "principals/";
/** Lists of commits by a property, and results of materializations. */
export const INDEXES = "indexes/";
/** Lists of keys being collected. */
export const COLLECTIONS = "collections/";
/** The value that refers to the current list. */
export const COLLECTION = "collection";

/**
 * Longest value, encoded and as the name of a file, that a list has in its keys. One with a hash is longer, so that it
 * equals none of these, and always fits into the name of a file.
 */
const MAX_LISTED_VALUE = 126;
/** Characters of a longer one that stay in front of its hash. */
const KEPT_CHARACTERS = 62;

/** Longest encoded text in a key: a name of 256 characters of three bytes. Longer ids do not exist. */
const MAX_PART_CHARACTERS = 9 * 256;

const encoder = new TextEncoder();

/** Whether the value of a key can be large. Such a value is put, and never compared. */
export function isLarge(key: string): boolean {
  return key.startsWith(BLOBS) || key.startsWith(COLLECTIONS);
}

/** Whether a ref is the hash of its blob, so that the blob is always verified. */
export function isFullRef(ref: string): boolean {
  return /^(?:blake3:)?[0-9a-f]{64}$/.test(ref);
}

/** Whether a ref abbreviates a full one. */
export function isShortRef(ref: string): boolean {
  return /^art-[0-9a-f]{12}$/.test(ref);
}

/** Whether a ref may be a damaged short one, whose blob must not be used unverified. */
export function mayBeShortRef(ref: string): boolean {
  return ref.startsWith("art-");
}

/** The key of a blob, by full ref or the ref of another store. */
export function blobKey(ref: string): string {
  return BLOBS + encoded(ref.slice(ref.indexOf(":") + 1), "artifact_ref");
}

/** The prefix of the keys of all blobs that a short ref, `art-…`, can stand for. */
export function blobPrefix(shortRef: string): string {
  return BLOBS + shortRef.slice(shortRef.indexOf("-") + 1);
}

export function recordKey(id: string): string {
  return RECORDS + encoded(id, "id");
}

export function headKey(name: string): string {
  if (typeof name !== "string" || name === "" || name.length > 256) {
    throw invalid("head", "a name of 1 to 256 characters");
  }
  return HEADS + encoded(name, "head");
}

export function headName(key: string): string {
  return decodeURIComponent(key.slice(HEADS.length));
}

/** Prefix of the list of a principal's commits, latest first. */
export function principalPrefix(principal: string): string {
  return `${PRINCIPALS}${listed(principal, "principal")}/`;
}

export function principalKey(principal: string, timeKey: string, id: string): string {
  return `${principalPrefix(principal)}${timeKey}/${encoded(id, "id")}`;
}

/** The time and the commit of such a key. */
export function principalEntry(key: string): { moment: string; id: string } {
  const [id = "", moment = ""] = key.split("/").reverse();
  return { moment, id: decodeURIComponent(id) };
}

/** A property that commits are listed by. */
export type Index = "ticket" | "thread" | "session" | "parent" | "unsummarized";

/** Prefix of the list of the commits with a property, earliest first. */
export function indexPrefix(index: Index, value: string): string {
  return `${INDEXES}${index}/${listed(value, index)}/`;
}

export function indexKey(index: Index, value: string, timeKey: string, id: string): string {
  // Time keys sort later moments first.
  const ascending = timeKey.replace(/\d/g, (digit) => String(9 - Number(digit)));
  return `${indexPrefix(index, value)}${ascending}/${encoded(id, "id")}`;
}

const RESULTS = `${INDEXES}materialized/`;

/** The key of the result of a materialization. */
export function resultKey(cacheKey: string): string {
  return `${RESULTS}${encoded(cacheKey, "cacheKey")}/-/-`;
}

export function isResultKey(key: string): boolean {
  return key.startsWith(RESULTS);
}

/** A value in the key of a list. Hosts limit the length of keys, so a long value is replaced by its beginning and hash. */
function listed(value: string, path: string): string {
  const part = escaped(value, path);
  if (fileName(part).length <= MAX_LISTED_VALUE) return part;
  const hash = artifactRef(encoder.encode(value)).slice("blake3:".length);
  return `${part.slice(0, KEPT_CHARACTERS)}~${hash}`;
}

/** A text as one part of a key: ASCII without `/`, and nothing that a path or an address takes for another folder. */
function encoded(text: string, path: string): string {
  const part = escaped(text, path);
  if (part.length > MAX_PART_CHARACTERS) {
    throw invalid(path, `text of at most ${MAX_PART_CHARACTERS} characters when it is encoded for an address`);
  }
  return part;
}

function escaped(text: string, path: string): string {
  let part;
  try {
    part = encodeURIComponent(text);
  } catch {
    throw invalid(path, "text without lone surrogates");
  }
  // No other text has these forms.
  if (part === "") return "%";
  return part === "." || part === ".." ? part.replaceAll(".", "%2E") : part;
}
