/** Refs of blobs. */

import { call } from "../../runtime.js";
import type { Bytes } from "../../types/commits.js";
import { checkedText } from "../checked.js";
import { checkedBytes } from "./bytes.js";

/** Computes the ref of a blob: `blake3:` and the 64 hex digits of its BLAKE3 hash. */
export function artifactRef(blob: Bytes): string {
  const bytes = checkedBytes(blob, "blob");
  return call((raw) => raw.artifactRef(bytes));
}

/** The short form of a ref for display: `art-` and its first 12 digits. */
export function shortRef(artifactRef: string): string {
  const text = checkedText(artifactRef, "artifactRef");
  return call((raw) => raw.shortRef(text));
}
