// Texts for these benchmarks: random words, the same in each run.

// In prose about one byte in ninety has to be escaped in JSON (tests/corpus/prose), and here as well.
const WORDS = (
  "the rain fell softly on old roofs while a lamp burned in some window and nobody asked " +
  '"who is there" twice\n until morning came over the harbour with its slow grey ships and ' +
  "their patient crews who had seen every weather that there is from north to south between one winter and another"
).split(" ");

/** Returns a function that writes texts of about 400 characters. */
export function writer() {
  let seed = 1;
  return () => {
    let text = "";
    while (text.length < 400) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      text += `${WORDS[(seed >>> 16) % WORDS.length]} `;
    }
    return `${text}end`;
  };
}

/** The median of several times. */
export const median = (times) => times.toSorted((a, b) => a - b)[times.length >> 1];
