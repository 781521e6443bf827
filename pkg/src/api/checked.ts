/** Validation of arguments that are passed into the wasm directly. */

import { CtxweaveError } from "../error.js";
import { guarded } from "../source.js";

/** Returns the value, which must be a string; `path` is its name in the error. */
export function checkedText(value: unknown, path: string): string {
  if (typeof value !== "string") throw invalid(path, "a string");
  return value;
}

/** Returns the value, which must be an object; `path` is its name in the error. */
export function checkedObject<T extends object>(value: T, path: string): T {
  if (typeof value !== "object" || value === null) throw invalid(path, "an object");
  return value;
}

/** Fields of results that options may hold, so that a result can be spread into them. */
const OF_RESULTS = ["report", "diagnostics"];

/** Copies the options, reading each once. They must be an object without unknown options. */
export function checkedOptions<Options extends object>(
  options: Options,
  known: readonly (keyof Options & string)[],
  path = "options",
): Options {
  checkedObject(options, path === "" ? "options" : path);
  const names: readonly string[] = known;
  const placeOf = (name: string): string => (path === "" ? name : `${path}.${name}`);
  const isKnown = (name: string): boolean => names.includes(name) || (!path.includes("[") && OF_RESULTS.includes(name));
  const unknown = guarded(path, () => Object.keys(options)).find((name) => !isKnown(name));
  if (unknown === undefined) {
    const read = known.map((name) => [name, guarded(placeOf(name), () => options[name])] as const);
    return Object.fromEntries(read.filter(([, value]) => value !== undefined)) as Options;
  }
  const place = placeOf(unknown);
  const message = `\`${place}\` is not an option; the options are \`${known.join("`, `")}\``;
  throw new CtxweaveError("invalid_input", message, { path: place });
}

/** Returns the JSON text of the caller's object; `path` is its name in the error. */
export function jsonOf(value: object, path: string): string {
  const text: unknown = guarded(path, () => JSON.stringify(value));
  if (typeof text !== "string") throw invalid(path, "an object that JSON can represent");
  return text;
}

/** The error for an invalid argument. */
export function invalid(path: string, expected: string): CtxweaveError {
  return new CtxweaveError("invalid_input", `\`${path}\` must be ${expected}`, { path });
}
