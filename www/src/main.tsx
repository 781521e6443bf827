import { render } from "preact";
import { init } from "ctxweave";
import { App } from "./shell/app.js";
import { applyTheme } from "./shell/theme.js";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/loom.css";
import "./styles/chats.css";
import "./styles/body.css";
import "./styles/operators.css";
import "./styles/commits.css";
import "./styles/files.css";

applyTheme();
const root = document.getElementById("app") as HTMLElement;
try {
  await init();
  render(<App />, root);
} catch (error) {
  root.innerHTML = `<main class="fatal" role="alert"><h1>The page could not start</h1><p></p></main>`;
  (root.querySelector("p") as HTMLElement).textContent = (error as Error).message;
}
