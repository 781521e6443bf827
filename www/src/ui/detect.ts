/** Detects the kind of a dropped or pasted item, and the view for it. The user can open it as another kind. */

import type { Identification } from "ctxweave/commits";
import { loadArea } from "../shell/area.js";
import { plural } from "./format.js";

/** A view that opens dropped items. */
export type Target = "chats" | "commits" | "loom" | "folders" | "workspace" | "operators" | "tokens";

export interface Guess {
  /** The view for it; undefined for an unknown kind. */
  view: Target | undefined;
  /** Its kind, in words that complete "this is". */
  what: string;
  /** A file of another loom, which has to be imported first. */
  imported?: true;
}

/** Detects the kind of several files, or a folder, by their paths. */
export async function detectFiles(paths: readonly string[]): Promise<Guess | undefined> {
  const found = await identified(paths);
  const isOne = paths.length === 1;
  if (found.kind === "contextFile")
    return { view: "folders", what: isOne ? "a context file" : "a folder with context files" };
  if (found.kind === "workspace") return { view: "workspace", what: isOne ? "a file of a workspace" : "a workspace" };
  return undefined;
}

/** Detects the kind of a file, by name and content. */
export async function detect(name: string, bytes: Uint8Array): Promise<Guess> {
  return (await detectFiles([name])) ?? guessOf(await identified(bytes));
}

async function identified(input: Uint8Array | readonly string[]): Promise<Identification> {
  const [{ identify }] = await Promise.all([import("ctxweave/commits"), loadArea("commits")]);
  return identify(input);
}

const BODIES = {
  anthropic: "Anthropic",
  gemini: "Gemini",
  "gemini-interactions": "Gemini (Interactions)",
  openai: "OpenAI (Chat Completions)",
  "openai-responses": "OpenAI (Responses)",
};

const SESSIONS = {
  "bureau-agent-v1": "a session (CBOR)",
  "claude-code-v1": "a session of Claude Code",
  "codex-v0": "a session of Codex (older format)",
  "codex-v1": "a session of Codex",
  "gemini-v1": "a session of Gemini CLI",
  "pi-v3": "a session of pi",
  "qwen-code-v1": "a session of Qwen Code",
  "copilot-cli-v1": "a session of Copilot CLI",
  "cline-v1": "a session of Cline",
  "opencode-export": "a session of OpenCode",
  "continue-v1": "a session of Continue",
  "atif-1.7": "a trajectory (ATIF)",
  "otel-genai": "traced messages (OpenTelemetry)",
  "generic-v1": "a session, one message per line",
};

function guessOf(found: Identification): Guess {
  switch (found.kind) {
    case "chat": {
      const list = found.field === "" ? `an array of ${plural(found.count, "chat message")}` : "a chat";
      return { view: "chats", what: found.body ? `a request body of ${BODIES[found.body]}` : list };
    }
    case "session":
      return { view: "commits", what: SESSIONS[found.format] };
    case "loomFile":
      return { view: "loom", what: "a file of another loom", imported: true };
    case "tree":
      return { view: "loom", what: "a Loom tree" };
    case "template":
      return { view: "operators", what: "a task template" };
    case "contextFile":
      return { view: "folders", what: "a context file" };
    case "workspace":
      return { view: "workspace", what: "a file of a workspace" };
    case "tokenizer":
      return { view: "tokens", what: "the tokenizer of a model" };
    case "text":
      return { view: "tokens", what: "a text" };
    default:
      return { view: undefined, what: `an unknown format (${found.evidence[0]?.found})` };
  }
}
