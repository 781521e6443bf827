/** Shared by the commands for session files. */

import type { TranscriptFormat } from "../../types/transcripts.js";
import { openArea } from "../areas.js";
import { choice } from "../arguments.js";
import { unusable } from "../failure.js";
import { type Input, oneInput } from "../input.js";
import { formatChoices, fullName } from "./format.js";

export const fromOption = choice(formatChoices, "format of the input (default: detected)");

/** A session file and its format. */
export async function session(
  operands: readonly string[],
  from: string | undefined,
): Promise<Input & { format: TranscriptFormat }> {
  const input = await oneInput(operands);
  const { area } = await openArea("commits");
  const format = from === undefined ? area.detectFormat(input.bytes as Uint8Array<ArrayBuffer>) : fullName(from);
  if (format === undefined) {
    throw unusable(
      `${input.name} is not a known session file; give its format with \`--from NAME\` (names: \`--help\`)`,
    );
  }
  return { ...input, format };
}
