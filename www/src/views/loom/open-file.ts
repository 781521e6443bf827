import type { CtxweaveError, LoomTreeData, Media } from "ctxweave/loom";
import { hold } from "./resident.js";

/** A tree read from a file, with the current node if the file has one. */
export interface TreeFile {
  tree: LoomTreeData;
  media: Record<string, Media>;
  tip: string | undefined;
}

/** Errors of the request rather than the tree: the tree can be opened, and the page shows them. */
const NOT_THE_TREE = new Set([
  "ambiguous_path",
  "context_too_long",
  "edge_without_source",
  "path_cycle",
  "system_context_too_long",
  "invalid_choice",
  "invalid_budget",
]);

const SHAPE =
  "A tree is a JSON object with the arrays `nodes` and `edges`. The file may also be { tree, media, tip }, with the media of each ref and the current node.";

/** The error for a text that is not a tree; its cause is the hint for the user. */
const notTree = (message: string): Error => new Error(`this is ${message}`, { cause: SHAPE });

/** Reads a tree, and validates it with the library, which knows every rule. */
export function readTree(text: string): TreeFile {
  const json = text.replace(/^\uFEFF/u, "");
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw notTree(`not JSON: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw notTree(`JSON, but ${nameOf(value)} instead of an object`);
  const { tree: inner, media, tip } = value;
  const tree = isObject(inner) ? inner : value;
  for (const key of ["nodes", "edges"]) {
    if (Array.isArray(tree[key])) continue;
    throw notTree(`not a Loom tree: \`${key}\` is ${key in tree ? nameOf(tree[key]) : "missing"}`);
  }
  const data = tree as unknown as LoomTreeData;
  validate(data, tree === value ? json : undefined);
  return {
    tree: data,
    media: isObject(media) ? (media as Record<string, Media>) : {},
    tip: data.nodes.find(({ id }) => id === tip)?.id,
  };
}

function validate(tree: LoomTreeData, json: string | undefined): void {
  const first: unknown = tree.nodes[0];
  // An empty tree is valid.
  const tip = isObject(first) && typeof first["id"] === "string" ? { tip: first["id"] } : { path: [] };
  try {
    hold(tree, json, (held) => {
      try {
        held.assembleDialogue({ ...tip, contextWindow: 1e9, preferences: { tokenBuffer: 0 } });
      } catch (error) {
        if (!NOT_THE_TREE.has((error as CtxweaveError).code)) throw error;
      }
    });
  } catch (error) {
    const { code = "error", message } = error as CtxweaveError;
    throw new Error(`${message} (${code})`);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
