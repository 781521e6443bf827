/** The views in the order of the navigation. Plain data, because the build reads it as well. */
export interface ViewEntry {
  /** Part of the address. */
  id: string;
  name: string;
  /** What it is for, in one line. */
  purpose: string;
  /** The title of the window and of links to the page. */
  title: string;
  description: string;
}

export const VIEW_LIST = [
  {
    id: "start",
    name: "Start",
    purpose: "An introduction with a chat that is over its window, and a field for your input.",
    title: "What your model sees",
    description:
      "What your model sees, what it costs, what was cut: drop a request, a session, a Loom, a folder or a text, and see it.",
  },
  {
    id: "chats",
    name: "Chats",
    purpose: "What fills a request's window, what it costs, and what a limit cuts.",
    title: "Chats",
    description: "Paste a chat of any provider, turn the limit, and see which messages are kept, changed or cut.",
  },
  {
    id: "loom",
    name: "Branching conversations",
    purpose: "The prompt that a branch of a Loom tree or chat export becomes.",
    title: "Branching conversations",
    description:
      "See how a Loom tree becomes a prompt under a token budget: what is kept, what is cut, and what it costs.",
  },
  {
    id: "commits",
    name: "Sessions",
    purpose: "A coding agent's session: continue from any turn, or convert it for another agent.",
    title: "Sessions of coding agents",
    description:
      "Open a session of a coding agent, see its branches, continue from any turn, and convert it to another format.",
  },
  {
    id: "tokens",
    name: "Tokens",
    purpose: "Where the tokens of a text end, and where a cut or a split falls.",
    title: "Tokens of a text",
    description:
      "See where the tokens of a text end, which they are, what each costs, and where a cut or a split falls.",
  },
  {
    id: "folders",
    name: "Agent files",
    purpose: "The instructions that each agent loads from your repository.",
    title: "Agent files",
    description: "See which AGENTS.md files of a folder go into the prompt, in which order, and what they cost.",
  },
  {
    id: "operators",
    name: "Task templates",
    purpose: "The context that each step of a task sees.",
    title: "Task templates",
    description: "Write a task template and see the context of each operator.",
  },
  {
    id: "workspace",
    name: "Workspace",
    purpose: "An agent's first turn: brief, notes, log and gaps.",
    title: "Workspace",
    description:
      "See what an agent receives in its first turn: the brief, the notes, the log and the gaps of a workspace.",
  },
] as const satisfies readonly ViewEntry[];

export type ViewId = (typeof VIEW_LIST)[number]["id"];
