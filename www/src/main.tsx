import { render } from "preact";
import { App } from "./shell/app.js";
import { applyTheme } from "./shell/theme.js";
import "./styles/page.css";

applyTheme();
render(<App />, document.getElementById("app") as HTMLElement);
