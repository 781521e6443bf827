/** The kinds of dropped items, in words, and the view for each. */

import type { Identification } from "ctxweave/commits";
import type { ImportFormat } from "ctxweave/import";
import { plural } from "../ui/format.js";
import WORDS from "./words.json";

/** A view that opens dropped items. */
export type Target = "chats" | "commits" | "loom" | "folders" | "workspace" | "operators" | "tokens";

/** The kind of an item, for people, and its view; no view for an unknown kind. */
export interface Guess {
  view: Target | undefined;
  /** Completes "this is". */
  what: string;
}

const LOOMS: Partial<Record<ImportFormat, string>> = WORDS.looms;

/** Kinds whose words depend on nothing else. */
const KINDS: Partial<Record<Identification["kind"], Guess>> = {
  tree: { view: "loom", what: "a Loom tree" },
  template: { view: "operators", what: "a task template" },
  contextFile: { view: "folders", what: "a context file" },
  workspace: { view: "workspace", what: "a file of a workspace" },
  tokenizer: { view: "tokens", what: "the tokenizer of a model" },
  text: { view: "tokens", what: "a text" },
};

/** The view and the words for what `identify` found in a file. */
export function guessOf(found: Identification): Guess {
  switch (found.kind) {
    case "chat": {
      const list = found.field === "" ? `an array of ${plural(found.count, "chat message")}` : "a chat";
      return { view: "chats", what: found.body ? `a request body of ${WORDS.bodies[found.body]}` : list };
    }
    case "session":
      return { view: "commits", what: WORDS.sessions[found.format] };
    case "loomFile":
      return { view: "loom", what: LOOMS[found.format] ?? `a file of ${found.format}` };
    default:
      return KINDS[found.kind] ?? { view: undefined, what: `an unknown format (${found.evidence[0]?.found})` };
  }
}

/** The view and the words for several files, or a folder; undefined if their paths identify nothing. */
export function guessOfPaths(found: Identification, isOne: boolean): Guess | undefined {
  if (found.kind !== "contextFile" && found.kind !== "workspace") return undefined;
  if (isOne) return guessOf(found);
  return found.kind === "contextFile"
    ? { view: "folders", what: "a folder with context files" }
    : { view: "workspace", what: "a workspace" };
}
