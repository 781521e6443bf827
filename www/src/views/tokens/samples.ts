/** Sample texts: each has other kinds of tokens. */
export interface Sample {
  id: string;
  name: string;
  text: string;
}

const ENGLISH = [
  "The loom was warped on a Tuesday. Forty threads to the inch, each of them drawn through its own heddle, and then " +
    "through the reed, which keeps them apart. Nobody speaks while this is done: a thread in the wrong place shows " +
    "from the first row to the last.",
  "By Thursday the cloth was a hand wide. It isn't much, Marta said, but it's straight. She has woven for thirty-one " +
    "years and counts picks without noticing that she counts. Unevenness, overcompensation, misremembered tension: " +
    "she has a word for each.",
].join("\n\n");

const CODE = `export function weave(threads: readonly Thread[], { picks = 24, onPick }: WeaveOptions = {}): Cloth {
  const rows: Row[] = [];
  for (let pick = 0; pick < picks; pick++) {
    // The shed is open: every second thread is up.
    const raised = threads.filter((_, index) => (index + pick) % 2 === 0);
    rows.push({ pick, raised: raised.map(({ id }) => id), hash: \`0x\${(pick * 2654435761 >>> 0).toString(16)}\` });
    onPick?.(pick / picks);
  }
  return { rows, width: threads.length, finished: rows.length === picks };
}`;

const CHINESE = [
  "织机在星期二装好了经线。每寸四十根线，每一根都穿过自己的综眼，再穿过把它们分开的筘。" +
    "穿线的时候没有人说话：只要有一根线放错了地方，从第一行到最后一行都会看得见。",
  "到了星期四，布已经有一掌宽了。玛尔塔说：“不多，但是很直。”她织了三十一年布，数纬线的时候自己都没有察觉。",
].join("\n\n");

const EMOJI = `Woven today: 🧵🧶✂️ and then a break ☕.
The family came along: 👩‍👩‍👧‍👦, and so did the dog 🐕‍🦺.
Flags on the loom: 🇫🇮🇯🇵🇧🇷 · hands at work: 👋🏽👍🏿✍🏻
Marks that join: café, cafe\u0301, n\u0303, Ḁ̸ · and a heart ❤️‍🔥`;

const MARKDOWN = `# Weaving notes

## Warping

Forty threads to the inch. Draw each of them through *its own* heddle.

- Wind the warp on the **back beam**.
- Tie it to the front, in groups of ten.

## Weaving

| day | picks | width |
| --- | ----: | ----: |
| Tue |   120 |  4 cm |
| Wed |   310 | 11 cm |

\`\`\`js
const picks = rows.filter((row) => row.tight).length;
\`\`\`

### Mistakes

A thread in the wrong place shows from the first row to the last. Cut it, tie a new one in, and go on.

## Finishing

Wash the cloth once in warm water. It shrinks by a tenth.`;

export const SAMPLES: readonly [Sample, ...Sample[]] = [
  { id: "english", name: "English", text: ENGLISH },
  { id: "code", name: "Code", text: CODE },
  { id: "chinese", name: "Chinese", text: CHINESE },
  { id: "emoji", name: "Emoji", text: EMOJI },
  { id: "markdown", name: "Markdown", text: MARKDOWN },
];
