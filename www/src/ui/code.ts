import { plain } from "./share.js";
import { isEncoding } from "./vocabularies.js";

/** A view's operation as programs, and the files that they read. */
export interface Code {
  javascript: string;
  rust: string;
  files: readonly CodeFile[];
}

export interface CodeFile {
  name: string;
  content: string | Uint8Array<ArrayBuffer>;
}

/** Maximum length of content inlined in the program. */
const INLINE = 2000;

/** Content of a program: inlined, or in a file that it reads. */
export interface Content {
  javascript: string;
  /** A `&str`, or for bytes a `&[u8]`. */
  rust: string;
  file?: CodeFile;
}

/** A text. */
export function textContent(name: string, text: string): Content {
  if (text.length <= INLINE) return { javascript: JSON.stringify(text), rust: raw(text) };
  return {
    javascript: `readFileSync(${JSON.stringify(name)}, "utf8")`,
    rust: `include_str!(${JSON.stringify(name)})`,
    file: { name, content: text },
  };
}

/** The bytes of a file. */
export function bytesContent(name: string, content: Uint8Array<ArrayBuffer>): Content {
  return {
    javascript: `readFileSync(${JSON.stringify(name)})`,
    rust: `include_bytes!(${JSON.stringify(name)})`,
    file: { name, content },
  };
}

/** A value written as JSON. Bytes that are text become text; others are lists of numbers until they are read. */
export function jsonContent(name: string, value: unknown): Content {
  const json = JSON.stringify(value, plain, 2);
  const isPlain = !json.includes('"$bytes"');
  if (isPlain && json.length <= INLINE) return { javascript: json, rust: raw(json) };
  const reviver = isPlain ? "" : ", (_, value) => (value?.$bytes ? Uint8Array.from(value.$bytes) : value)";
  const read = textContent(name, json);
  return { ...read, javascript: `JSON.parse(${read.javascript}${reviver})` };
}

/** A Rust string literal: raw, or escaped if a raw one cannot hold the text. */
export function raw(text: string): string {
  if (text.includes("\r")) {
    const escaped = text.replace(/[\\"]/g, "\\$&").replaceAll("\r", "\\r").replaceAll("\n", "\\n");
    return `"${escaped}"`;
  }
  let marks = "#";
  while (text.includes(`"${marks}`)) marks += "#";
  return `r${marks}"${text}"${marks}`;
}

/** The files of several contents. */
export function filesOf(...contents: readonly Pick<Content, "file">[]): readonly CodeFile[] {
  return contents.flatMap(({ file }) => file ?? []);
}

const moduleOf = (encoding: string): string =>
  /^(p50k|r50k|gpt2)/.test(encoding) ? `ctxweave-vocab/${encoding}` : `ctxweave/vocab/${encoding}`;

/** A JavaScript program with its imports and initialization. */
export function javascript(program: {
  /** The entry point. */
  area: string;
  /** Imports in addition to `init`. */
  uses: readonly string[];
  /** The tokenizer: an encoding is loaded, a custom one is read from its `tokenizer.json`. */
  tokenizer?: string | undefined;
  isOwnTokenizer?: boolean;
  lines: readonly string[];
}): string {
  const { area, uses, tokenizer, isOwnTokenizer = false, lines } = program;
  const encoding = tokenizer !== undefined && !isOwnTokenizer && isEncoding(tokenizer) ? tokenizer : undefined;
  const own = isOwnTokenizer
    ? [`loadVocabulary(${JSON.stringify(tokenizer)}, vocabularyOf(readFileSync("tokenizer.json")));`]
    : [];
  const names = [...uses, ...(own.length > 0 ? ["loadVocabulary", "vocabularyOf"] : []), "init"].sort();
  const body = [...own, ...lines].join("\n");
  return [
    ...(body.includes("readFileSync(") ? ['import { readFileSync } from "node:fs";'] : []),
    `import { ${names.join(", ")} } from "ctxweave/${area}";`,
    ...(encoding ? [`import { load } from "${moduleOf(encoding)}";`] : []),
    "",
    encoding ? "await Promise.all([init(), load()]);" : "await init();",
    body,
    "",
  ].join("\n");
}

/** A Rust program that makes one of the crate's calls, by name, with JSON, and the file that it reads. */
export function rustCall(call: {
  name: string;
  value: unknown;
  tokenizer?: string | undefined;
  /** A second call that receives the answer of the first as this argument. */
  then?: { name: string; argument: string };
}): Pick<Content, "rust" | "file"> {
  const { name, value, tokenizer, then } = call;
  const { content, bytes } = rustRequest(value);
  const encoding = tokenizer !== undefined && isEncoding(tokenizer) ? tokenizer : undefined;
  const lines = [
    "use ctxweave::call::CallContext;",
    "",
    "fn main() -> Result<(), ctxweave::Error> {",
    encoding ? "    let mut host = CallContext::default();" : "    let host = CallContext::default();",
    ...(encoding ? loading(encoding, "host.tokenizers") : []),
    `    let request = ${content.rust};`,
    `    let bytes: Vec<Vec<u8>> = vec![${bytes.map((one) => `vec![${one.join(", ")}]`).join(", ")}];`,
    "    let find = |name: &str| ctxweave::CALLS.iter().copied().flatten().find(|call| call.name == name).expect(name);",
    `    let answer = find(${JSON.stringify(name)}).answer(&mut (), request.as_bytes(), &bytes, &host)?;`,
    ...(then
      ? [
          `    let request = format!(r#"{{"${then.argument}":{}}}"#, String::from_utf8_lossy(&answer.json));`,
          `    let answer = find(${JSON.stringify(then.name)}).answer(&mut (), request.as_bytes(), &[], &host)?;`,
        ]
      : []),
    '    println!("{}", String::from_utf8_lossy(&answer.json));',
    "    Ok(())",
    "}",
    "",
  ];
  return { ...content, rust: lines.join("\n") };
}

/** Lines that load a vocabulary from the file in the npm package. */
export function loading(encoding: string, tokenizers: string): string[] {
  return [
    `    // The file \`vocab/*.bin\` of the npm package.`,
    `    ${tokenizers}.load(${JSON.stringify(encoding)}, include_bytes!("${encoding}.bin"))?;`,
  ];
}

/** A request as a Rust expression: bytes are referred to by index. */
function rustRequest(value: unknown): { content: Content; bytes: Uint8Array[] } {
  const bytes: Uint8Array[] = [];
  const json = JSON.stringify(
    value,
    (key, one: unknown) => {
      const text = plain(key, one);
      if (!(one instanceof Uint8Array) || typeof text === "string") return text;
      return { "\u0000bytes": bytes.push(one) - 1 };
    },
    2,
  );
  return { content: textContent("request.json", json), bytes };
}

/** Options as an object literal in a program. */
export const literal = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(/^( *)"([A-Za-z_]\w*)":/gm, "$1$2:");
