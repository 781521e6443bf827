/** The views in the order of the navigation. Plain data, because the build reads it as well. */
export interface ViewEntry {
  /** Part of the address. */
  id: string;
  name: string;
  /** The title of the window and of links to the page. */
  title: string;
  description: string;
}

export const VIEW_LIST = [
  {
    id: "start",
    name: "Start",
    title: "What your model sees",
    description:
      "What your model sees, what it costs, what was cut: drop a request, a session, a Loom, a folder or a text, and see it.",
  },
  {
    id: "loom",
    name: "Loom",
    title: "Loom trees",
    description:
      "See how a Loom tree becomes a prompt under a token budget: what is kept, what is cut, and what it costs.",
  },
  {
    id: "chats",
    name: "Chats",
    title: "Chats",
    description: "Paste a chat of any provider, turn the limit, and see which messages are kept, changed or cut.",
  },
  {
    id: "tokens",
    name: "Tokens",
    title: "Tokens of a text",
    description:
      "See where the tokens of a text end, which they are, what each costs, and where a cut or a split falls.",
  },
  {
    id: "workspace",
    name: "Workspace",
    title: "Workspace",
    description:
      "See what an agent receives in its first turn: the brief, the notes, the log and the gaps of a workspace.",
  },
  {
    id: "folders",
    name: "Folders",
    title: "Folders with AGENTS.md files",
    description: "See which AGENTS.md files of a folder go into the prompt, in which order, and what they cost.",
  },
  {
    id: "operators",
    name: "Operators",
    title: "Context rules of tasks",
    description: "Write a task template and see the context of each operator.",
  },
  {
    id: "commits",
    name: "Commits",
    title: "Sessions as commits",
    description:
      "Open a session of a coding agent, see its branches, continue from any turn, and convert it to another format.",
  },
] as const satisfies readonly ViewEntry[];

export type ViewId = (typeof VIEW_LIST)[number]["id"];
