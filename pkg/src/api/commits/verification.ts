/** Verification of blobs by the host. */

import { CtxweaveError } from "../../error.js";
import { reasonOf } from "../../source.js";
import type { VerifyArtifact } from "../../types/commits.js";
import { invalid } from "../checked.js";

/** Whether the host can verify a blob with a ref of another store, and the result. */
export const Verification = { Unavailable: 0, Available: 1, Confirmed: 2, Refused: 3 } as const;
export type Verification = (typeof Verification)[keyof typeof Verification];

/**
 * Asks the host's function.
 *
 * @throws {CtxweaveError} `invalid_input` if it fails, or returns something other than a boolean
 */
export async function verification(
  verifyArtifact: VerifyArtifact,
  artifactRef: string,
  bytes: Uint8Array,
): Promise<Verification> {
  let answer: unknown;
  try {
    answer = await verifyArtifact(artifactRef, bytes);
  } catch (cause) {
    throw failed(artifactRef, cause);
  }
  return verified(answer);
}

/** The same for a function that cannot be asynchronous. */
export function verificationSync(
  verifyArtifact: (artifactRef: string, bytes: Uint8Array) => unknown,
  artifactRef: string,
  bytes: Uint8Array,
): Verification {
  let answer: unknown;
  try {
    answer = verifyArtifact(artifactRef, bytes);
  } catch (cause) {
    throw failed(artifactRef, cause);
  }
  return verified(answer);
}

function verified(answer: unknown): Verification {
  if (typeof answer !== "boolean") throw invalid("options.verifyArtifact", "a function that returns true or false");
  return answer ? Verification.Confirmed : Verification.Refused;
}

function failed(artifactRef: string, cause: unknown): CtxweaveError {
  const message = `\`verifyArtifact\` failed for \`${artifactRef}\`: ${reasonOf(cause)}`;
  return new CtxweaveError("invalid_input", message, { path: "options.verifyArtifact" }, { cause });
}
