/** Options of chats and dialogues that shorten texts instead of removing messages. */

import type { FitOptions } from "../types/chat.js";
import { choice, list, type Values } from "./arguments.js";
import { given } from "./input.js";

export const shorteningOptions = {
  protect: list("WHICH", "shorten this message rather than remove it: `firstUser`, `lastUser` or `none`"),
  fill: choice(["all", "results", "off"], "shorten these texts at the gap to use the whole limit (default `all`)"),
};

/** The fit settings of these options. */
export function shorteningSettings({ protect = [], fill }: Partial<Values<typeof shorteningOptions>>) {
  const messages = protect.filter((name) => name !== "none") as ("firstUser" | "lastUser")[];
  return given({
    protect: protect.length > 0 ? messages : undefined,
    fill: fill as FitOptions["fill"],
  });
}
