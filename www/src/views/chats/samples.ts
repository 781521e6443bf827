import { convertMessages } from "ctxweave/chat";
import type { ChatFormat } from "ctxweave/chat";
import openai from "../../../../examples/chats/openai.json?raw";
import type { Sample } from "../../ui/sample-picker.js";
import { AGENT } from "./agent-sample.js";

/** The first sample in another format. Converted when it is needed: the package is not initialized before. */
class Converted implements Sample {
  #text: string | undefined;

  constructor(
    readonly id: ChatFormat,
    readonly name: string,
  ) {}

  get text(): string {
    if (this.#text !== undefined) return this.#text;
    const { system, messages } = convertMessages(JSON.parse(openai) as unknown[], { from: "openai", to: this.id });
    return (this.#text = JSON.stringify(system === undefined ? messages : { system, messages }, null, 2));
  }
}

/** A conversation of an agent with tools in the formats of three providers, and a long one. */
export const SAMPLES: readonly [Sample, ...Sample[]] = [
  { id: "openai", name: "OpenAI", text: openai.trimEnd() },
  new Converted("anthropic", "Anthropic"),
  new Converted("ai-sdk", "AI SDK"),
  { id: "agent", name: "Coding agent", text: JSON.stringify(AGENT, null, 2) },
];
