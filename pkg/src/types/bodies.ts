import type { FitState, JsonValue } from "./common.js";
import type { AssemblyReport, AssemblyRequest } from "./loom.js";

/** What both kinds of `requestBody` take: a request of either assembly, and whom it is for. */
export interface BodyRequest extends AssemblyRequest {
  /** Whom the body is for. `completion` takes the document of a buffer assembly, all others the messages of a dialogue. */
  target: Target;
  /** For `completion`: stands before the text of the path, in place of the tree's `bufferPrefix`. */
  bufferPrefix?: string;
  /** For `completion`: text that is not yet a node; stands at the end of the document. */
  workingBuffer?: string;
}

/** The body with its account. */
export interface RequestBodyWithReport {
  /** JSON in UTF-8, ready for `fetch`. */
  body: Uint8Array<ArrayBuffer>;
  /** That of the assembly. Its diagnostics include what the provider cannot express: their codes begin with `body_`. */
  report: AssemblyReport;
  /** With `previous`: what the next dialogue of the series is given as `previous`. */
  state?: FitState;
}

/**
 * A provider that has a body. Where one is asked for, any string has the type, since TypeScript makes no more of
 * `const target = { provider: "anthropic" }`; a name that is not known is an error.
 */
export type TargetProvider =
  "anthropic" | "openai" | "openai-responses" | "gemini" | "gemini-interactions" | "completion";

/** Whom a body is for, and what shall stand in it. */
export type Target = TargetSettings &
  (
    | { provider: Exclude<TargetProvider, "gemini"> | (string & {}); model: string }
    | { provider: "gemini"; model?: string }
    | { provider: "gemini-interactions"; agent: string; model?: undefined }
  );

/**
 * Settings by one name for all providers. Every other field stands for itself: it is copied into the body as it is, so
 * that all that a provider takes can be said in its own words (`top_p`, `tool_choice`, `safetySettings`).
 */
export interface TargetSettings {
  /**
   * `max_tokens`, `max_completion_tokens`, `max_output_tokens`, `generationConfig.maxOutputTokens` or
   * `generation_config.max_output_tokens`. Anthropic requires it; where it is missing, it is `tokenBuffer` there.
   */
  maxTokens?: number;
  temperature?: number;
  /** `gemini` streams by its address, so that it is not in that body. */
  stream?: boolean;
  /** Tools in nobody's shape, or in the provider's own. */
  tools?: (ToolDefinition | { [field: string]: JsonValue })[];
  /** Leaves all reasoning out: no provider takes back what another one's model thought. Default false. */
  dropReasoning?: boolean;
  /**
   * The user message that is put first where the provider requires one and the conversation begins with the model. Default
   * `[start of the conversation]`.
   */
  openingText?: string;
  /** Cache breakpoints for Anthropic, and for OpenAI Responses from gpt-5.6 on. Default none. */
  cache?: boolean | CacheSettings;
  [field: string]: unknown;
}

/** A tool that the model may call. Other fields (`strict`) are copied. */
export interface ToolDefinition {
  name: string;
  description?: string;
  /** A JSON Schema; without it the tool takes nothing. */
  parameters?: { [field: string]: JsonValue };
  [field: string]: JsonValue | undefined;
}

/** Where cache breakpoints go: four in all. At OpenAI none can stand after the model's messages; there it stands before them. */
export interface CacheSettings {
  /** One after the system context, or after the tools without a system context. Default true. OpenAI has none there. */
  system?: boolean;
  /**
   * Places among the assembled messages, negative ones from the end. `auto`, the default: after the last message, after
   * what is as it was in the `previous` assembly (without one: after the user message before the last), and after the
   * last message before a cut.
   */
  messages?: "auto" | number[];
  /**
   * How long it is kept. Without it the provider decides: five minutes, at OpenAI 30. `30m` and `12h` are OpenAI's; there `5m` counts as
   * `30m`, `1h` as `12h`.
   */
  ttl?: "5m" | "1h" | "30m" | "12h";
}
