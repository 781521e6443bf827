/** What the commands for session files have in common. */

import type { TranscriptFormat } from "../../types/transcripts.js";
import { openArea } from "../areas.js";
import { choice } from "../arguments.js";
import { unusable } from "../failure.js";
import { type Input, oneInput } from "../input.js";
import { formatChoices, fullName } from "./format.js";

export const fromOption = choice(formatChoices, "who wrote it, where the file does not tell");

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
      `${input.name} is no session file that is known: say who wrote it with \`--from NAME\` (\`--help\` has the names)`,
    );
  }
  return { ...input, format };
}
