import { filesOf, javascript, jsonContent, rustCall, type Code } from "../../ui/code.js";
import { outcome } from "./state.js";

/** The prompt, as code. */
export function codeOfFolders(): Code | undefined {
  const made = outcome.value;
  if (!made?.ok) return undefined;
  const { request } = made.value;
  const content = jsonContent("folders.json", request);
  const then = { name: "renderContextPrompt", argument: "chain" };
  const inRust = rustCall({ name: "buildContextChain", value: request, then });
  return {
    javascript: javascript({
      area: "folders",
      uses: ["buildContextChain", "renderContextPrompt"],
      lines: [
        `const request = ${content.javascript};`,
        "const chain = buildContextChain(request);",
        "process.stdout.write(renderContextPrompt(chain));",
      ],
    }),
    rust: inRust.rust,
    files: filesOf(content, inRust),
  };
}
