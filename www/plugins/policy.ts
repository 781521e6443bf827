import { createHash } from "node:crypto";

/**
 * A content security policy that lets the built page connect only to its server. The hash allows its one inline script.
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
