/** All commands, in the order of the help. */

import { body } from "./body.js";
import { buffer } from "./buffer.js";
import { chat } from "./chat.js";
import type { Command } from "./command.js";
import { dialogue } from "./dialogue.js";
import { folders } from "./folders.js";
import { folderLint } from "./lint.js";
import { operators } from "./operators.js";
import { folderRules } from "./rules.js";
import { convert } from "./session/convert.js";
import { importSession } from "./session/import.js";
import { show } from "./session/show.js";
import { tokens } from "./tokens.js";
import { vocab } from "./vocab.js";
import { workspace } from "./workspace.js";

export const commands: readonly Command[] = [
  chat,
  folders,
  folderRules,
  folderLint,
  convert,
  show,
  importSession,
  tokens,
  body,
  dialogue,
  buffer,
  workspace,
  operators,
  vocab,
];
