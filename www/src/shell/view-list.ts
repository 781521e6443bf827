/** The views by name, in the order in which they are offered. Plain data: the build reads it, too. */
export interface ViewEntry {
  /** Stands in the address. */
  id: string;
  name: string;
  /** What the window is called, and what a page that links here shows. */
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
    description: "Paste a chat of any provider, turn the limit, and see what becomes of each message.",
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
      "See what an agent is given in its first turn: the brief, the notes, the log and the gaps of a workspace.",
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
    description: "Write a task template and see what context each of its operators is given.",
  },
  {
    id: "commits",
    name: "Commits",
    title: "Sessions as commits",
    description:
      "Open a session of a coding agent, see its branches, go on from any turn, and convert it to another format.",
  },
] as const satisfies readonly ViewEntry[];

export type ViewId = (typeof VIEW_LIST)[number]["id"];
