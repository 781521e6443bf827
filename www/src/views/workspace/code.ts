import { filesOf, javascript, jsonContent, rustCall, type Code } from "../../ui/code.js";
import { input } from "./state.js";

/** The first turn, as code. */
export function codeOfWorkspace(): Code | undefined {
  const request = input.value;
  if (!request) return undefined;
  const content = jsonContent("workspace.json", request);
  const inRust = rustCall({ name: "readContext", value: request });
  return {
    javascript: javascript({
      area: "workspace",
      uses: ["readContext"],
      lines: [
        `const workspace = ${content.javascript};`,
        "const { context } = readContext(workspace);",
        "console.log(JSON.stringify(context, null, 2));",
      ],
    }),
    rust: inRust.rust,
    files: filesOf(content, inRust),
  };
}
