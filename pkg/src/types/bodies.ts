import type { FitState, JsonValue } from "./common.js";
import type { AssemblyReport, AssemblyRequest } from "./loom.js";

/** Input of both kinds of `requestBody`: an assembly request, and the target of the body. */
export interface BodyRequest extends AssemblyRequest {
  /**
   * The target of the body. `completion` takes the document of a buffer assembly, all others take the messages of a
   * dialogue.
   */
  target: Target;
  /** For `completion`: text before the text of the path. Overrides the tree's `bufferPrefix`. */
  bufferPrefix?: string | undefined;
  /** For `completion`: text that is not yet a node, at the end of the document. */
  workingBuffer?: string | undefined;
}

/** A request body with its report. */
export interface RequestBodyWithReport {
  /** JSON in UTF-8, ready for `fetch`. */
  body: Uint8Array<ArrayBuffer>;
  /**
   * The report of the assembly. Diagnostics for content that the provider cannot express have codes that begin with
   * `body_`.
   */
  report: AssemblyReport;
  /** With `previous`: the `previous` of the next dialogue in the series. */
  state?: FitState;
}

/**
 * A provider for which bodies are written. Fields of this kind accept any string, because TypeScript widens
 * `const target = { provider: "anthropic" }`; an unknown name throws.
 */
export type TargetProvider =
  "anthropic" | "openai" | "openai-responses" | "gemini" | "gemini-interactions" | "completion";

/** The target of a body, with additional fields of the body. */
export type Target = TargetSettings &
  (
    | { provider: Exclude<TargetProvider, "gemini"> | (string & {}); model: string }
    | { provider: "gemini"; model?: string | undefined }
    | { provider: "gemini-interactions"; agent: string; model?: undefined }
  );

/**
 * Settings with one name for all providers. Every other field is copied into the body unchanged, so that all parameters
 * of a provider are available under its names (`top_p`, `tool_choice`, `safetySettings`). docs/bodies.md has the rules
 * of each provider.
 */
export interface TargetSettings {
  /**
   * `max_tokens`, `max_completion_tokens`, `max_output_tokens`, `generationConfig.maxOutputTokens` or
   * `generation_config.max_output_tokens`. Anthropic requires it; there it defaults to `tokenBuffer`.
   */
  maxTokens?: number | undefined;
  temperature?: number | undefined;
  /** Not part of a `gemini` body: Gemini streams by its address. */
  stream?: boolean | undefined;
  /** Tools, as {@link ToolDefinition} or in the provider's format. */
  tools?: (ToolDefinition | { [field: string]: JsonValue })[] | undefined;
  /** Omits all reasoning, because no provider accepts the reasoning of another provider's model. Default false. */
  dropReasoning?: boolean | undefined;
  /**
   * The user message inserted at the front if the provider requires one and the conversation begins with the model.
   * Default `[start of the conversation]`.
   */
  openingText?: string | undefined;
  /** Cache breakpoints for Anthropic, and for OpenAI Responses from gpt-5.6 on. Default none. */
  cache?: boolean | CacheSettings | undefined;
  [field: string]: unknown;
}

/** A tool that the model may call. Other fields (`strict`) are copied. */
export interface ToolDefinition {
  name: string;
  description?: string | undefined;
  /** A JSON Schema; without it the tool has no parameters. */
  parameters?: { [field: string]: JsonValue } | undefined;
  [field: string]: JsonValue | undefined;
}

/**
 * Placement of cache breakpoints, at most four. OpenAI allows none after the model's messages; there the breakpoint
 * moves before them.
 */
export interface CacheSettings {
  /**
   * One after the system context, or after the tools if there is no system context. Default true. Ignored for OpenAI.
   */
  system?: boolean | undefined;
  /**
   * Indices of assembled messages, negative ones from the end. `auto` (the default): after the last message, after the
   * part that is unchanged since the `previous` assembly (without `previous`: after the user message before the last),
   * and after the last message before a cut.
   */
  messages?: "auto" | number[] | undefined;
  /**
   * Lifetime. Defaults to the provider's: five minutes, at OpenAI 30. `30m` and `12h` are OpenAI's; there `5m` counts
   * as `30m` and `1h` as `12h`.
   */
  ttl?: "5m" | "1h" | "30m" | "12h" | undefined;
}
