/** The endpoints of bodies, and their headers. */

import type { Target, TargetProvider } from "ctxweave/loom";

type To = Target & { model: string };

const BEARER: [string, string] = ["authorization", "Bearer $API_KEY"];

const ENDPOINTS: Record<TargetProvider, (model: string) => { url: string; headers: [string, string][] }> = {
  anthropic: () => ({
    url: "https://api.anthropic.com/v1/messages",
    headers: [
      ["x-api-key", "$API_KEY"],
      ["anthropic-version", "2023-06-01"],
    ],
  }),
  openai: () => ({ url: "https://api.openai.com/v1/chat/completions", headers: [BEARER] }),
  "openai-responses": () => ({ url: "https://api.openai.com/v1/responses", headers: [BEARER] }),
  gemini: (model) => ({
    url: `https://generativelanguage.googleapis.com/v1beta/models/${encodeURIComponent(model)}:generateContent`,
    headers: [["x-goog-api-key", "$API_KEY"]],
  }),
  "gemini-interactions": () => ({
    url: "https://generativelanguage.googleapis.com/v1beta/interactions",
    headers: [["x-goog-api-key", "$API_KEY"]],
  }),
  completion: () => ({ url: "https://api.openai.com/v1/completions", headers: [BEARER] }),
};

/** The address and the headers for a target; the shell fills in the key. */
export function endpoint(target: To): { url: string; headers: [string, string][] } {
  const { url, headers } = ENDPOINTS[target.provider as TargetProvider](target.model);
  return { url, headers: [...headers, ["content-type", "application/json"]] };
}

/**
 * The request as a curl command. The body is a quoted here-document, in which the shell leaves every character
 * unchanged.
 */
export function curl(target: To, body: string): string {
  const { url, headers } = endpoint(target);
  const lines = [`curl '${url}'`, ...headers.map(([name, value]) => `  -H "${name}: ${value}"`)];
  return `${lines.join(" \\\n")} \\\n  --data-binary @- <<'BODY'\n${body}\nBODY\n`;
}
