import type { ChatFormat } from "ctxweave/chat";
import { filesOf, javascript, jsonContent, literal, rustCall, type Code } from "../../ui/code.js";
import { fitCall, model, outcome, settings } from "./state.js";

/** A system context next to the messages in `list`, as code; other formats have `{ system, messages }`. */
const CONTAINERS: Partial<Record<ChatFormat, string>> = {
  gemini: "{ systemInstruction: { parts: [{ text: system }] }, contents: list }",
  "gemini-interactions": "{ system_instruction: system, input: list }",
};

/** Lines that convert the messages and print them with their system context, as the view does. */
const convertedTo = (from: ChatFormat, to: ChatFormat): string[] => [
  `const { system, messages: list } = convertMessages(messages, ${literal({ from, to })});`,
  `const converted = system === undefined ? list : ${CONTAINERS[to] ?? "{ system, messages: list }"};`,
  "console.log(JSON.stringify(converted, null, 2));",
];

/** The fit, as code: the request after the user's edits, and the options shown. */
export function codeOfChat(): Code | undefined {
  const [call, result] = [fitCall.value, outcome.value];
  if (!call.ok || !result.ok) return undefined;
  const { request: chat, options } = call.value;
  const content = jsonContent("chat.json", chat);
  const { format } = result.value.report;
  const to = settings.value.as === format ? undefined : settings.value.as;
  const counted = options.tokenizer === undefined ? model.value?.vocabulary : undefined;
  const inRust = rustCall({ name: "fitMessages", value: { messages: chat, options }, tokenizer: counted });
  return {
    javascript: javascript({
      area: "chat",
      uses: ["fitMessages", ...(to ? ["convertMessages"] : [])],
      tokenizer: counted,
      lines: [
        `const chat = ${content.javascript};`,
        `const { messages } = fitMessages(chat, ${literal(options)});`,
        ...(to ? convertedTo(format, to) : ["console.log(JSON.stringify(messages, null, 2));"]),
      ],
    }),
    rust: inRust.rust,
    files: filesOf(content, inRust),
  };
}
