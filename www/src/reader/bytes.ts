/** From the bytes of a file to its text, and the name of its format if it has none. */

import WORDS from "./words.json";

/** Largest file that is read, and largest for each view, in bytes. */
export const MAX_FILE_BYTES = 64_000_000;
export const MAX_VIEW_BYTES: Partial<Record<string, number>> = { chats: 16_000_000, tokens: 32_000_000 };

/** The size in decimal units: `12 MB`. */
export function bytesText(size: number): string {
  const [unit, divisor] = size >= 1e6 ? ["MB", 1e6] : size >= 1e3 ? ["kB", 1e3] : ["bytes", 1];
  return `${new Intl.NumberFormat("en", { maximumFractionDigits: size < 10 * divisor && divisor > 1 ? 1 : 0 }).format(size / divisor)} ${unit}`;
}

/** Why a file of this size is not opened. */
export const tooLarge = (size: number, most: number): string =>
  `${bytesText(size)}: this page opens up to ${bytesText(most)}, the command (npx ctxweave) up to 256 MB`;

/** Types that `identify` reads from bytes: CBOR is a session format, the others are text. */
const IS_READ = /cbor|json|xml|\bicalendar|vcard|rtf|text\//u;

/** The format of a binary file, in words that complete "this is"; undefined for text and unknown bytes. */
export async function binaryFormat(bytes: Uint8Array): Promise<{ what: string; ext: string } | undefined> {
  // The marks of UTF-16 are also the beginning of some recordings.
  if (utf16Of(bytes)) return undefined;
  const { fileTypeFromBuffer } = await import("file-type/core");
  // The beginning is enough for the signatures.
  const found = await fileTypeFromBuffer(bytes.subarray(0, 65_536)).catch(() => undefined);
  if (!found || IS_READ.test(found.mime)) return undefined;
  const word = Object.entries(WORDS.binaryFormats).find(([start]) => found.mime.startsWith(start))?.[1];
  return { what: `${word ?? "a binary file"} (.${found.ext})`, ext: found.ext };
}

/** Number of bytes by which UTF-16 without a mark is recognized. */
const SAMPLE = 512;

/** The bytes as UTF-8; UTF-16 is converted. */
export function asUtf8(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const encoding = utf16Of(bytes);
  return encoding ? new TextEncoder().encode(new TextDecoder(encoding).decode(bytes)) : bytes;
}

function utf16Of(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  const start = bytes.subarray(0, SAMPLE & ~1);
  const zeros = (odd: number): number => start.filter((byte, at) => at % 2 === odd && byte === 0).length;
  const half = start.length / 2;
  if (half < 2) return undefined;
  // Mostly ASCII: every other byte is zero.
  if (zeros(1) > 0.8 * half && zeros(0) === 0) return "utf-16le";
  return zeros(0) > 0.8 * half && zeros(1) === 0 ? "utf-16be" : undefined;
}
