import { createHash } from "node:crypto";

/**
 * A policy that lets the built page talk to nobody but the server it came from. The one script that stands in the page itself is
 * named by its hash.
 */
export function contentSecurityPolicy(script: string): string {
  const hash = createHash("sha256").update(script).digest("base64");
  return [
    "default-src 'self'",
    `script-src 'self' 'wasm-unsafe-eval' 'sha256-${hash}'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "media-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}
