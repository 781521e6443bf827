/**
 * Text encoding. The classes are looked up on first use, so that importing never throws if they are missing: Jest's
 * jsdom has neither, and Node's replace them.
 */

/** A decoder that keeps a BOM. */
export function decoderOf(label: "utf-8" | "utf-16le"): TextDecoder {
  const Decoder = (globalThis as Partial<Classes>).TextDecoder ?? ofNode().TextDecoder;
  return new Decoder(label, { ignoreBOM: true });
}

let encoder: TextEncoder | undefined;

/** The encoder. */
export function utf8(): TextEncoder {
  if (encoder) return encoder;
  const Encoder = (globalThis as Partial<Classes>).TextEncoder ?? ofNode().TextEncoder;
  encoder = new Encoder();
  return encoder;
}

interface Classes {
  TextDecoder: typeof TextDecoder;
  TextEncoder: typeof TextEncoder;
}

function ofNode(): Classes {
  const util = globalThis.process?.getBuiltinModule?.("node:util");
  if (util) return util as unknown as Classes;
  throw new TypeError(
    "this runtime has no `TextDecoder` and no `TextEncoder`; define them globally before `init` is called",
  );
}
