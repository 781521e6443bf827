/** Refs of blobs. */

import { call } from "../../runtime.js";
import type { Bytes } from "../../types/commits.js";
import { checkedText } from "../checked.js";
import { checkedBytes } from "./bytes.js";

/** The ref of a blob: `blake3:` and the 64 hex digits of its BLAKE3 hash. */
export function artifactRef(blob: Bytes): string {
  const bytes = checkedBytes(blob, "blob");
  return call((raw) => raw.artifactRef(bytes));
}

/** The short form of a ref, for people: `art-` and the first 12 of its digits. */
export function shortRef(artifactRef: string): string {
  const text = checkedText(artifactRef, "artifactRef");
  return call((raw) => raw.shortRef(text));
}
