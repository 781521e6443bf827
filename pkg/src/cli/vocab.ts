/** `ctxweave vocab`: vocabularies for exact counts. */

import { encodings, isJson, openArea, vocabularyAsset } from "./areas.js";
import { notKnown } from "./arguments.js";
import { command, type Outcome } from "./command.js";
import { unusable } from "./failure.js";
import { input } from "./input.js";
import { grouped } from "./report.js";

export const vocab = command({
  name: "vocab",
  summary: "a vocabulary for exact counts: of an open model's `tokenizer.json`, or one that comes along",
  usage: "[FILE | NAME] [options]",
  about: `FILE is the \`tokenizer.json\` of an open model (byte-level byte pair encoding: Llama 3, Qwen, Mistral, DeepSeek and
    their like). It becomes an asset of a fifth to a tenth of its size for \`loadVocabulary\` and \`--tokenizer\`. NAME is an
    encoding that comes with the package. Without either, their names are listed.`,
  options: {},
  examples: [
    { description: "the encodings that come along", line: "npx ctxweave vocab" },
    { description: "of an open model", line: "npx ctxweave vocab tokenizer.json --out model.bin" },
    { description: "and to count with it", line: "npx ctxweave tokens notes.md --tokenizer model.bin" },
    {
      description: "one that comes along, to serve it yourself",
      line: "npx ctxweave vocab o200k_base --out o200k_base.bin",
    },
  ],
  async run(_values, operands): Promise<Outcome> {
    const [given] = operands;
    if (given === undefined) {
      const names = Object.keys(encodings);
      return { result: `${names.join("\n")}\n`, named: { encodings: names }, report: {}, lines: [] };
    }
    if (Object.hasOwn(encodings, given)) {
      const vocabulary = await encodings[given as keyof typeof encodings]();
      return asset(given, await vocabulary.bytes());
    }
    if (!/[./\\]|^-$/.test(given)) throw unusable(notKnown("encoding", given, Object.keys(encodings)));
    const { name, bytes } = await input(given);
    if (!isJson(bytes)) throw unusable(`${name} is no \`tokenizer.json\``);
    await openArea("all");
    return asset(name, await vocabularyAsset(bytes));
  },
});

function asset(name: string, bytes: Uint8Array): Outcome {
  return {
    result: bytes,
    named: { base64: Buffer.from(bytes).toString("base64") },
    report: { name, bytes: bytes.length },
    lines: [`${name}: ${grouped(bytes.length)} bytes`],
  };
}
