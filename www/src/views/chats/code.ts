import { filesOf, javascript, jsonContent, literal, rustCall, rustRequest, type Code } from "../../ui/code.js";
import { fitCall, model, outcome, settings } from "./state.js";

/** The fit, as code: the request after the user's edits, and the options shown. */
export function codeOfChat(): Code | undefined {
  const now = outcome.value;
  const call = fitCall.value;
  if (now.kind === "error" || !call) return undefined;
  const { chat, options } = call;
  const content = jsonContent("chat.json", chat);
  const { format } = now.report;
  const to = settings.value.as === format ? undefined : settings.value.as;
  const counted = options.tokenizer === undefined ? model.value?.vocabulary : undefined;
  const request = rustRequest("request.json", { messages: chat, options });
  return {
    javascript: javascript({
      area: "chat",
      uses: ["fitMessages", ...(to ? ["convertMessages"] : [])],
      tokenizer: counted,
      lines: [
        `const chat = ${content.javascript};`,
        `const { messages } = fitMessages(chat, ${literal(options)});`,
        to
          ? `console.log(JSON.stringify(convertMessages(messages, ${literal({ from: format, to })}), null, 2));`
          : "console.log(JSON.stringify(messages, null, 2));",
      ],
    }),
    rust: rustCall({
      name: "fitMessages",
      request: request.content.rust,
      bytes: request.bytes,
      tokenizer: counted,
    }),
    files: filesOf(content, request.content),
  };
}
