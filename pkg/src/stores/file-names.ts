/** Parts of keys as names of files. */

/** Longest name of a file, in characters. File systems of all platforms have this limit. */
export const MAX_NAME_CHARACTERS = 255;

/** The name of a file for an empty part of a key. */
const EMPTY = "=";

/**
 * Keys encode unusual characters with `%`; file systems differ in `*`, trailing dots and capital letters. A path ignores
 * an empty part.
 */
export function fileName(part: string): string {
  if (part === "") return EMPTY;
  return part.replace(/[^a-z0-9_%-]/g, (character) => `=${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/** The part of a key with this name. */
export function keyPart(name: string): string {
  if (name === EMPTY) return "";
  return name.replace(/=([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
