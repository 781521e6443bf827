import type { ChatFormat } from "ctxweave/chat";
import { filesOf, javascript, jsonContent, literal, rustCall, type Code } from "../../ui/code.js";
import { fitCall, model, outcome, settings } from "./state.js";

/** A system context next to the messages in `list`, as code; other formats have `{ system, messages }`. */
const CONTAINERS: Partial<Record<ChatFormat, string>> = {
  gemini: "{ systemInstruction: { parts: [{ text: system }] }, contents: list }",
  "gemini-interactions": "{ system_instruction: system, input: list }",
};

/** Lines that convert the messages and print them with their system context, as the view does. */
function convertedTo(from: ChatFormat, to: ChatFormat, system: string | undefined): string[] {
  const input = system === undefined ? "messages" : `{ system: ${system}, messages }`;
  return [
    `const { system, messages: list } = convertMessages(${input}, ${literal({ from, to })});`,
    `const converted = system === undefined ? list : ${CONTAINERS[to] ?? "{ system, messages: list }"};`,
    "console.log(JSON.stringify(converted, null, 2));",
  ];
}

/** The fit, as code: the request after the user's edits, and the options shown. */
export function codeOfChat(): Code | undefined {
  const now = outcome.value;
  const call = fitCall.value;
  if (now.kind === "error" || !call) return undefined;
  const { chat, options, request: whole } = call;
  // OpenAI Responses and Gemini Interactions have their messages in `input`, which is passed by itself.
  const isInput = chat !== whole;
  const content = jsonContent("chat.json", whole);
  const { format } = now.report;
  const to = settings.value.as === format ? undefined : settings.value.as;
  const counted = options.tokenizer === undefined ? model.value?.vocabulary : undefined;
  const inRust = rustCall({ name: "fitMessages", value: { messages: chat, options }, tokenizer: counted });
  return {
    javascript: javascript({
      area: "chat",
      uses: ["fitMessages", ...(to ? ["convertMessages"] : [])],
      tokenizer: counted,
      lines: [
        `const ${isInput ? "request" : "chat"} = ${content.javascript};`,
        `const { messages } = fitMessages(${isInput ? "request.input" : "chat"}, ${literal(options)});`,
        ...(to
          ? convertedTo(format, to, isInput && options.system !== undefined ? literal(options.system) : undefined)
          : [`console.log(JSON.stringify(${isInput ? "{ ...request, input: messages }" : "messages"}, null, 2));`]),
      ],
    }),
    rust: inRust.rust,
    files: filesOf(content, inRust),
  };
}
