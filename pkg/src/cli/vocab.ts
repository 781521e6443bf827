/** `ctxweave vocab`: vocabularies for exact counts. */

import { encodings, isJson, openArea, vocabularyAsset } from "./areas.js";
import { unknownName } from "./arguments.js";
import { command, type Outcome } from "./command.js";
import { misused, unusable } from "./failure.js";
import { input } from "./input.js";
import { grouped } from "./report.js";

export const vocab = command({
  name: "vocab",
  summary: "build or extract a vocabulary for exact counts",
  usage: "[FILE | NAME] [options]",
  about: `FILE is the \`tokenizer.json\` of an open model with byte-level byte pair encoding, such as Llama 3, Qwen, Mistral or
    DeepSeek. The output is an asset for \`loadVocabulary\` and \`--tokenizer\`, a fifth to a tenth of its size. NAME is an
    encoding of the package. Without either, the encodings are listed.`,
  options: {},
  examples: [
    { description: "the encodings of the package", line: "npx ctxweave vocab" },
    { description: "the vocabulary of an open model", line: "npx ctxweave vocab tokenizer.json --out model.bin" },
    { description: "count with it", line: "npx ctxweave tokens notes.md --tokenizer model.bin" },
    {
      description: "an encoding of the package, to serve it yourself",
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
    if (!/[./\\]|^-$/.test(given)) {
      throw misused(unknownName(`unknown encoding \`${given}\``, given, Object.keys(encodings)));
    }
    const { name, bytes } = await input(given);
    if (!isJson(bytes)) throw unusable(`${name} is not a \`tokenizer.json\``);
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
