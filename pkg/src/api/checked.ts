/** Validation of arguments that are passed into the wasm directly. */

import { CtxweaveError } from "../error.js";
import { MAX_LIST_ITEMS, tooLarge } from "../sizes.js";
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

/** Returns the value, which must be a function or missing; `path` is its name in the error. */
export function checkedFunction<T>(value: T, path: string): T {
  if (value !== undefined && typeof value !== "function") throw invalid(path, "a function");
  return value;
}

/** Returns the value, which must be a list of a valid size; `path` is its name in the error. */
export function checkedList<T>(value: readonly T[], path: string): readonly T[] {
  if (!guarded(path, () => Array.isArray(value))) throw invalid(path, "a list");
  const length = guarded(path, () => value.length);
  if (!(length <= MAX_LIST_ITEMS)) throw tooLarge(`\`${path}\``, length, MAX_LIST_ITEMS);
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

/**
 * Returns the JSON text of the caller's object; `path` is its name in the error.
 *
 * @throws {CtxweaveError} `invalid_input` with the path of a value that JSON would drop or change
 */
export function jsonOf(value: object, path: string): string {
  const places = new Map<unknown, { path: string; holder: unknown }>();
  const isWithin = (item: object, holder: unknown): boolean => {
    for (let at = holder; at !== undefined; at = places.get(at)?.holder) if (at === item) return true;
    return false;
  };
  const text: unknown = guarded(path, () =>
    JSON.stringify(value, function (this: unknown, key: string, item: unknown): unknown {
      const holder = places.get(this)?.path;
      const place = holder === undefined ? path : Array.isArray(this) ? `${holder}[${key}]` : `${holder}.${key}`;
      // `JSON.stringify` passes null for an invalid date.
      const lost = lostInJson(item === null ? (this as Record<string, unknown>)[key] : item);
      if (lost) throw invalid(place, `a value that JSON can represent, not ${lost}`);
      if (Array.isArray(item)) checkedList(item, place);
      if (typeof item === "object" && item !== null) {
        if (isWithin(item, this)) throw invalid(place, "a value that JSON can represent, not a cycle");
        places.set(item, { path: place, holder: this });
      }
      return item;
    }),
  );
  if (typeof text !== "string") throw invalid(path, "an object that JSON can represent");
  return text;
}

/** The tokenizer's name, if the options contain nothing else. */
export function onlyTokenizer(options: unknown): string | undefined {
  try {
    const keys = Object.keys(options as object);
    const { tokenizer } = options as { tokenizer?: unknown };
    if (typeof tokenizer === "string" && keys.length === 1) return tokenizer;
  } catch {
    // The wasm reports invalid options.
  }
  return undefined;
}

/** The kind of a value that JSON would drop or change. */
function lostInJson(value: unknown): string | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : String(value);
  if (["bigint", "function", "symbol"].includes(typeof value)) return `a ${typeof value}`;
  if (value instanceof BigInt) return "a bigint";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "an invalid Date" : undefined;
  const kind = [Map, Set, WeakMap, WeakSet, Promise, RegExp].find((one) => value instanceof one);
  if (kind) return `a ${kind.name}`;
  if (value instanceof Error) return "an Error";
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer ? "bytes" : undefined;
}

/** The error for an invalid argument. */
export function invalid(path: string, expected: string): CtxweaveError {
  return new CtxweaveError("invalid_input", `\`${path}\` must be ${expected}`, { path });
}
