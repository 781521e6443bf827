/** The options that chats and dialogues share: what is shortened rather than removed. */

import type { FitOptions } from "../types/chat.js";
import { choice, list, type Values } from "./arguments.js";
import { given } from "./input.js";

export const shorteningOptions = {
  protect: list("WHICH", "`firstUser`, `lastUser`: shorten this message rather than remove it; `none` protects none"),
  fill: choice(["all", "results", "off"], "shorten these texts at the gap to use the whole limit; default all"),
};

/** The settings of a fit that these options give. */
export function shorteningSettings({ protect = [], fill }: Partial<Values<typeof shorteningOptions>>) {
  const messages = protect.filter((name) => name !== "none") as ("firstUser" | "lastUser")[];
  return given({
    protect: protect.length > 0 ? messages : undefined,
    fill: fill as FitOptions["fill"],
  });
}
