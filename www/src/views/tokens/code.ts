import { filesOf, javascript, literal, loading, textContent, type Code } from "../../ui/code.js";
import { isEncoding } from "../../ui/vocabularies.js";
import { cutOptions, splitOptions } from "./settings.js";
import { asked, isExact, isOwnTokenizer, limit, piece, settled } from "./state.js";

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** The operation of the open tab, as code. */
export function codeOfTokens(): Code {
  const { shown, tokenizer } = asked.value;
  const text = textContent("text.txt", settled.value);
  const operation = shown === "tokens" && !isExact.value ? "count" : shown;
  const options = literal({ tokenizer });
  const [name, result] = {
    count: ["countTokens", `countTokens(text, ${options})`] as const,
    tokens: ["tokenSpans", `[...tokenSpans(text, ${options}).ids]`] as const,
    cut: ["truncateText", `truncateText(text, ${limit.value}, ${literal(cutOptions(asked.value))})`] as const,
    split: ["splitText", `splitText(text, ${literal(splitOptions(asked.value, piece.value))})`] as const,
  }[operation];
  return {
    javascript: javascript({
      area: "tokens",
      uses: [name],
      tokenizer,
      isOwnTokenizer: isOwnTokenizer(tokenizer),
      lines: [`const text = ${text.javascript};`, `console.log(JSON.stringify(${result}));`],
    }),
    rust: rust(operation, text.rust),
    files: filesOf(text),
  };
}

function rust(operation: "count" | "tokens" | "cut" | "split", text: string): string {
  const { tokenizer, shown, side, marker, overlap, markdown, boundary } = asked.value;
  const name = JSON.stringify(tokenizer);
  // For Markdown the package cuts after lines, unless another boundary is given.
  const at = capital(boundary || (shown === "split" && markdown ? "line" : "token"));
  const uses = {
    count: [],
    tokens: ["use ctxweave::tokens::codec::{Specials, spans};"],
    cut: ["use ctxweave::tokens::cut::{Boundary, Side, Truncate, truncate};"],
    split: ["use ctxweave::tokens::cut::{Boundary, Split, split};"],
  }[operation];
  const calls = {
    count: ['    println!("{}", counter.count(text));'],
    tokens: [
      '    let spans = spans(counter.codec().expect("an exact tokenizer"), text, &Specials::new());',
      '    println!("{:?}", spans.ids);',
    ],
    cut: [
      `    let options = Truncate { side: Side::${capital(side)}, boundary: Boundary::${at}, marker: ${JSON.stringify(marker)} };`,
      `    println!("{:?}", truncate(text, ${limit.value}, options, &*counter));`,
    ],
    split: [
      `    let options = Split { most: ${piece.value}, overlap: ${overlap}, boundary: Boundary::${at}, markdown: ${markdown} };`,
      '    println!("{:?}", split(text, options, &*counter)?);',
    ],
  }[operation];
  const own = [
    '    let asset = ctxweave::tokens::bpe::vocabulary_of(include_bytes!("tokenizer.json"))?;',
    `    tokenizers.load(${name}, &asset)?;`,
  ];
  const load = isEncoding(tokenizer) ? loading(tokenizer, "tokenizers") : isOwnTokenizer(tokenizer) ? own : [];
  return [
    "use ctxweave::tokens::Tokenizers;",
    ...uses,
    "",
    "fn main() -> Result<(), ctxweave::Error> {",
    `    let ${load.length > 0 ? "mut " : ""}tokenizers = Tokenizers::default();`,
    ...load,
    `    let counter = tokenizers.get(${name})?;`,
    `    let text = ${text};`,
    ...calls,
    "    Ok(())",
    "}",
    "",
  ].join("\n");
}
