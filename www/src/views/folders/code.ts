import { filesOf, javascript, jsonContent, rustCall, rustRequest, type Code } from "../../ui/code.js";
import { outcome } from "./state.js";

/** The prompt, as code. */
export function codeOfFolders(): Code | undefined {
  const made = outcome.value;
  if (made?.kind !== "chain") return undefined;
  const content = jsonContent("folders.json", made.request);
  const request = rustRequest("request.json", made.request);
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
    rust: rustCall({
      name: "buildContextChain",
      request: request.content.rust,
      bytes: request.bytes,
      then: { name: "renderContextPrompt", argument: "chain" },
    }),
    files: filesOf(content, request.content),
  };
}
