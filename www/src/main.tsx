import { render } from "preact";
import { App } from "./shell/app.js";
import { applyTheme } from "./shell/theme.js";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/panes.css";
import "./styles/parts.css";

applyTheme();
render(<App />, document.getElementById("app") as HTMLElement);
