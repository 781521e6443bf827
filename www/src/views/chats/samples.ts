import { convertMessages } from "ctxweave/chat";
import type { ChatFormat } from "ctxweave/chat";
import agent from "../../../../examples/chats/agent.json?raw";
import openai from "../../../../examples/chats/openai.json?raw";
import type { Sample } from "../../ui/sample-picker.js";

/** The first sample in another format. Converted when it is needed: the package is not initialized before. */
function converted(id: ChatFormat, name: string): Sample {
  const convert = (): string => {
    const { system, messages } = convertMessages(JSON.parse(openai) as unknown[], { from: "openai", to: id });
    return JSON.stringify(system === undefined ? messages : { system, messages }, null, 2);
  };
  let text: string | undefined;
  return {
    id,
    name,
    get text() {
      return (text ??= convert());
    },
  };
}

/** A conversation of an agent with tools in the formats of three providers, and a long one. */
export const SAMPLES: readonly [Sample, ...Sample[]] = [
  { id: "openai", name: "OpenAI", text: openai.trimEnd() },
  converted("anthropic", "Anthropic"),
  converted("ai-sdk", "AI SDK"),
  { id: "agent", name: "Coding agent", text: agent.trimEnd() },
];
