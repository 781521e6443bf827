import { filesOf, javascript, jsonContent, rustCall, type Code } from "../../ui/code.js";
import { request, settings, tokenizer } from "./state.js";

/** The assembly, as code: the request to the package. */
export function codeOfLoom(): Code | undefined {
  const input = request.value;
  if (!input) return undefined;
  const { mode, provider } = settings.value;
  const call = mode === "dialogue" ? "assembleDialogue" : "assembleBuffer";
  const content = jsonContent("request.json", input);
  return {
    javascript: javascript({
      area: "loom",
      uses: [call],
      tokenizer: tokenizer.value,
      lines: [
        `const request = ${content.javascript};`,
        `const result = ${call}(request);`,
        ...(provider ? ["// The body for the provider: requestBody(request)"] : []),
        "console.log(JSON.stringify(result, null, 2));",
      ],
    }),
    rust: rustCall({ name: call, value: input, tokenizer: tokenizer.value }).rust,
    files: filesOf(content),
  };
}
