/** The kinds of dropped items, in words, and the view for each. */

import type { Identification } from "ctxweave/commits";
import { plural } from "../ui/format.js";

/** A view that opens dropped items. */
export type Target = "chats" | "commits" | "loom" | "folders" | "workspace" | "operators" | "tokens";

/** The kind of an item, for people, and its view; no view for an unknown kind. */
export interface Guess {
  view: Target | undefined;
  /** Completes "this is". */
  what: string;
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
  "events-v1": "a session (events in CBOR)",
  "claude-code-v1": "a session of Claude Code",
  "codex-v0": "a session of Codex (older format)",
  "codex-v1": "a session of Codex",
  "gemini-v1": "a session of Gemini CLI",
  "pi-v3": "a session of pi",
  sts: "a session for Hugging Face",
  "qwen-code-v1": "a session of Qwen Code",
  "copilot-cli-v1": "a session of Copilot CLI",
  "cline-v1": "a session of Cline",
  "opencode-export": "a session of OpenCode",
  "continue-v1": "a session of Continue",
  "atif-1.7": "a trajectory (ATIF)",
  "otel-genai": "traced messages (OpenTelemetry)",
  "generic-v1": "a session, one message per line",
};

const LOOMS: Record<string, string> = {
  chatgpt: "ChatGPT",
  "open-webui": "Open WebUI",
  "llama-cpp": "llama.cpp",
  claude: "Claude",
};

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
      return { view: "chats", what: found.body ? `a request body of ${BODIES[found.body]}` : list };
    }
    case "session":
      return { view: "commits", what: SESSIONS[found.format] };
    case "loomFile":
      return {
        view: "loom",
        what:
          found.format === "messages" ? "a chat, as a Loom tree" : `a file of ${LOOMS[found.format] ?? found.format}`,
      };
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
