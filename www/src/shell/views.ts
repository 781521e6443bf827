import type { ComponentType } from "preact";
import { ChatsView } from "../views/chats/view.js";
import { CommitsView } from "../views/commits/view.js";
import { FoldersView } from "../views/folders/view.js";
import { LoomView } from "../views/loom/view.js";
import { OperatorsView } from "../views/operators/view.js";
import { TokensView } from "../views/tokens/view.js";
import { WorkspaceView } from "../views/workspace/view.js";

/** One page of the demo. A new one is a line here and a folder under views/. */
export interface View {
  /** Stands in the address. */
  id: string;
  name: string;
  component: ComponentType;
}

export const VIEWS: readonly [View, ...View[]] = [
  { id: "loom", name: "Loom", component: LoomView },
  { id: "chats", name: "Chats", component: ChatsView },
  { id: "tokens", name: "Tokens", component: TokensView },
  { id: "workspace", name: "Workspace", component: WorkspaceView },
  { id: "folders", name: "Folders", component: FoldersView },
  { id: "operators", name: "Operators", component: OperatorsView },
  { id: "commits", name: "Commits", component: CommitsView },
];
