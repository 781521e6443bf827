import { render } from "preact";
import { App } from "./shell/app.js";
import "./styles/page.css";

render(<App />, document.getElementById("app") as HTMLElement);
