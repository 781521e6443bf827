import { filesOf, javascript, literal, loading, textContent, type Code } from "../../ui/code.js";
import { isEncoding } from "../../ui/vocabularies.js";
import { ownVocabularies } from "./own-vocabularies.js";
import { cutOptions, splitOptions, type Settings } from "./settings.js";
import { ESTIMATES, limit, piece, settings, settled, tokenizer } from "./state.js";

/** The operation of the open tab, as code. */
export function codeOfTokens(): Code {
  const asked = { ...settings.value, tokenizer: tokenizer.value };
  const text = textContent("text.txt", settled.value);
  const isEstimate = ESTIMATES.includes(asked.tokenizer);
  const isOwnTokenizer = ownVocabularies.value.some(({ name }) => name === asked.tokenizer);
  const [uses, call] = callOf(asked, isEstimate);
  return {
    javascript: javascript({
      area: "tokens",
      uses: [uses],
      tokenizer: asked.tokenizer,
      isOwnTokenizer,
      lines: [`const text = ${text.javascript};`, ...call],
    }),
    rust: rust(asked, isEstimate, isOwnTokenizer, text.rust),
    files: filesOf(text),
  };
}

function callOf(asked: Settings, isEstimate: boolean): [uses: string, lines: string[]] {
  const { shown } = asked;
  if (shown === "cut") {
    const result = `truncateText(text, ${limit.value}, ${literal(cutOptions(asked))})`;
    return ["truncateText", [`console.log(JSON.stringify(${result}));`]];
  }
  if (shown === "split") {
    return [
      "splitText",
      [`console.log(JSON.stringify(splitText(text, ${literal(splitOptions(asked, piece.value))})));`],
    ];
  }
  const options = literal({ tokenizer: asked.tokenizer });
  if (isEstimate) return ["countTokens", [`console.log(countTokens(text, ${options}));`]];
  return [
    "tokenSpans",
    [`const { ids, ends } = tokenSpans(text, ${options});`, "console.log(JSON.stringify([...ids]));"],
  ];
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

function rust(asked: Settings, isEstimate: boolean, isOwn: boolean, text: string): string {
  const { shown, side, marker, overlap, markdown } = asked;
  // For Markdown the package cuts after lines, unless another boundary is given.
  const boundary = capital(asked.boundary ?? (shown === "split" && markdown ? "line" : "token"));
  const uses: Record<Settings["shown"], string[]> = {
    tokens: isEstimate ? [] : ["use ctxweave::tokens::codec::{Specials, spans};"],
    cut: ["use ctxweave::tokens::cut::{Boundary, Side, Truncate, truncate};"],
    split: ["use ctxweave::tokens::cut::{Boundary, Split, split};"],
  };
  const calls: Record<Settings["shown"], string[]> = {
    tokens: isEstimate
      ? ['    println!("{}", counter.count(text));']
      : [
          '    let spans = spans(counter.codec().expect("an exact tokenizer"), text, &Specials::new());',
          '    println!("{:?}", spans.ids);',
        ],
    cut: [
      `    let options = Truncate { side: Side::${capital(side)}, boundary: Boundary::${boundary}, marker: ${JSON.stringify(marker)} };`,
      `    println!("{:?}", truncate(text, ${limit.value}, options, &*counter));`,
    ],
    split: [
      `    let options = Split { most: ${piece.value}, overlap: ${overlap}, boundary: Boundary::${boundary}, markdown: ${markdown} };`,
      '    println!("{:?}", split(text, options, &*counter)?);',
    ],
  };
  const name = asked.tokenizer;
  const load = isEncoding(name)
    ? loading(name, "tokenizers")
    : isOwn
      ? [
          '    let asset = ctxweave::tokens::bpe::vocabulary_of(include_bytes!("tokenizer.json"))?;',
          `    tokenizers.load(${JSON.stringify(name)}, &asset)?;`,
        ]
      : [];
  return [
    "use ctxweave::tokens::Tokenizers;",
    ...uses[shown],
    "",
    "fn main() -> Result<(), ctxweave::Error> {",
    `    let ${load.length > 0 ? "mut " : ""}tokenizers = Tokenizers::default();`,
    ...load,
    `    let counter = tokenizers.get(${JSON.stringify(name)})?;`,
    `    let text = ${text};`,
    ...calls[shown],
    "    Ok(())",
    "}",
    "",
  ].join("\n");
}
