import type { Target } from "../reader/kinds.js";
import list from "./view-list.json" with { type: "json" };

export interface ViewEntry {
  /** Part of the address. */
  id: Target | "start";
  /** The area of the package that it needs. */
  area: Exclude<Target, "chats"> | "chat";
  name: string;
  /** What it is for, in one line. */
  purpose: string;
  /** The title of the window and of links to the page. */
  title: string;
  description: string;
}

/** The views in the order of the navigation. Plain data, because the build reads it as well. */
export const VIEW_LIST = list as [ViewEntry, ...ViewEntry[]];
