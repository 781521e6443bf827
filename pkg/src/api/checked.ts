/** Checks of arguments that cross into the wasm as they are. */

import { CtxweaveError } from "../error.js";
import { guarded } from "../source.js";

/** The value, which must be a string; `path` is its name in the error. */
export function checkedText(value: unknown, path: string): string {
  if (typeof value !== "string") throw invalid(path, "a string");
  return value;
}

/** The value, which must be an object; `path` is its name in the error. */
export function checkedObject<T extends object>(value: T, path: string): T {
  if (typeof value !== "object" || value === null) throw invalid(path, "an object");
  return value;
}

/** A copy of the options, each read once: an object, none of which may be unknown. */
export function checkedOptions<Options extends object>(
  options: Options,
  known: readonly (keyof Options & string)[],
  path = "options",
): Options {
  checkedObject(options, path === "" ? "options" : path);
  const names: readonly string[] = known;
  const placeOf = (name: string): string => (path === "" ? name : `${path}.${name}`);
  const unknown = guarded(path, () => Object.keys(options)).find((name) => !names.includes(name));
  if (unknown === undefined) {
    const read = known.map((name) => [name, guarded(placeOf(name), () => options[name])] as const);
    return Object.fromEntries(read.filter(([, value]) => value !== undefined)) as Options;
  }
  const place = placeOf(unknown);
  const message = `\`${place}\` is no option; there are \`${known.join("`, `")}\``;
  throw new CtxweaveError("invalid_input", message, { path: place });
}

/** The JSON text of the caller's object; `path` is its name in the error. */
export function jsonOf(value: object, path: string): string {
  const text: unknown = guarded(path, () => JSON.stringify(value));
  if (typeof text !== "string") throw invalid(path, "an object that JSON can hold");
  return text;
}

/** The error for an argument that is not what it must be. */
export function invalid(path: string, expected: string): CtxweaveError {
  return new CtxweaveError("invalid_input", `\`${path}\` must be ${expected}`, { path });
}
