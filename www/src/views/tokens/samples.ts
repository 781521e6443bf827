import chinese from "../../../../examples/texts/chinese.txt?raw";
import code from "../../../../examples/texts/code.txt?raw";
import emoji from "../../../../examples/texts/emoji.txt?raw";
import english from "../../../../examples/texts/english.txt?raw";
import markdown from "../../../../examples/texts/markdown.txt?raw";
import type { Sample } from "../../ui/sample-picker.js";

/** Sample texts: each has other kinds of tokens. */
export const SAMPLES: readonly [Sample, ...Sample[]] = [
  { id: "english", name: "English", text: english.trimEnd() },
  { id: "code", name: "Code", text: code.trimEnd() },
  { id: "chinese", name: "Chinese", text: chinese.trimEnd() },
  { id: "emoji", name: "Emoji", text: emoji.trimEnd() },
  { id: "markdown", name: "Markdown", text: markdown.trimEnd() },
];
