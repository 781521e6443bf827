/** Checks of arguments that cross into the wasm as they are. */

import { CtxweaveError } from "../error.js";

/** The value, which must be a string; `path` is its name in the error. */
export function checkedText(value: unknown, path: string): string {
  if (typeof value !== "string") throw invalid(path, "a string");
  return value;
}

/** The options: an object, none of which may be unknown. */
export function checkedOptions<Options extends object>(
  options: Options,
  known: readonly (keyof Options & string)[],
  path = "options",
): Options {
  if (typeof options !== "object" || options === null) throw invalid(path === "" ? "options" : path, "an object");
  const names: readonly string[] = known;
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return options;
  const place = path === "" ? unknown : `${path}.${unknown}`;
  const message = `\`${place}\` is no option; there are \`${known.join("`, `")}\``;
  throw new CtxweaveError("invalid_input", message, { path: place });
}

/** The error for an argument that is not what it must be. */
export function invalid(path: string, expected: string): CtxweaveError {
  return new CtxweaveError("invalid_input", `\`${path}\` must be ${expected}`, { path });
}
