import type { CtxweaveError, LoomTreeData, Media } from "ctxweave/loom";
import { hold } from "./resident.js";

/** A tree read from a file, with the current node if the file has one, or the reason for failure. */
export type Opened =
  | { ok: true; tree: LoomTreeData; media: Record<string, Media>; tip?: string }
  | { ok: false; message: string; hint: string };

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

export function openText(text: string): Opened {
  const json = text.replace(/^\uFEFF/u, "");
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return { ok: false, message: `this is not JSON: ${(error as Error).message}`, hint: SHAPE };
  }
  if (!isObject(value))
    return { ok: false, message: `this is JSON, but ${nameOf(value)} instead of an object`, hint: SHAPE };
  const tree = isObject(value["tree"]) ? value["tree"] : value;
  const media = isObject(value["media"]) ? (value["media"] as Record<string, Media>) : {};
  for (const key of ["nodes", "edges"]) {
    if (!Array.isArray(tree[key])) {
      const found = key in tree ? `\`${key}\` is ${nameOf(tree[key])}` : `\`${key}\` is missing`;
      return { ok: false, message: `this is not a Loom tree: ${found}`, hint: SHAPE };
    }
  }
  const problem = firstProblem(tree as unknown as LoomTreeData, tree === value ? json : undefined);
  if (problem)
    return {
      ok: false,
      message: `${problem.message} (${problem.code})`,
      hint: "Nothing was changed: the previous tree is still open.",
    };
  const opened = { ok: true as const, tree: tree as unknown as LoomTreeData, media };
  const { tip } = value;
  const isNode = typeof tip === "string" && opened.tree.nodes.some(({ id }) => id === tip);
  return isNode ? { ...opened, tip } : opened;
}

/** Validates the tree with the library, which knows every rule. An empty tree is valid. */
function firstProblem(tree: LoomTreeData, json: string | undefined): { code: string; message: string } | undefined {
  const first: unknown = tree.nodes[0];
  const tip = isObject(first) && typeof first["id"] === "string" ? { tip: first["id"] } : { path: [] };
  try {
    hold(tree, json, (held) => {
      try {
        held.assembleDialogue({ ...tip, contextWindow: 1e9, preferences: { tokenBuffer: 0 } });
      } catch (error) {
        if (!NOT_THE_TREE.has((error as CtxweaveError).code)) throw error;
      }
    });
    return undefined;
  } catch (error) {
    const { code, message } = error as CtxweaveError;
    return { code: code ?? "error", message };
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
