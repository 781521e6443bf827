import type { SplitOptions, TextBoundary, TruncateOptions } from "ctxweave/tokens";

export type Shown = "tokens" | "cut" | "split";
export type Side = NonNullable<TruncateOptions["side"]>;

/** What is asked of the text. What is absent is the default. */
export interface Settings {
  tokenizer: string;
  shown: Shown;
  /** What colours say: where one token ends and the next begins, or what its characters cost. */
  colours: "tokens" | "heat";
  /** Whether the number of each token stands below it. */
  ids: boolean;
  /** The most tokens that a text may have once it is cut; half of them where nobody said. */
  limit?: number | undefined;
  side: Side;
  marker: string;
  /** The most tokens of a piece; a fifth where nobody said. */
  piece?: number | undefined;
  overlap: number;
  markdown: boolean;
  /** Where to cut; the package's own choice where nobody said. */
  boundary?: TextBoundary | undefined;
}

export const DEFAULTS: Settings = {
  tokenizer: "o200k_base",
  shown: "tokens",
  colours: "tokens",
  ids: false,
  side: "end",
  marker: "[…]",
  overlap: 0,
  markdown: false,
};

export const SIDES: readonly { value: Side; name: string }[] = [
  { value: "end", name: "the end" },
  { value: "start", name: "the start" },
  { value: "middle", name: "the middle" },
];

export const BOUNDARIES: readonly { value: TextBoundary | ""; name: string }[] = [
  { value: "", name: "by default" },
  { value: "token", name: "between tokens" },
  { value: "grapheme", name: "between characters" },
  { value: "word", name: "between words" },
  { value: "line", name: "behind lines" },
  { value: "sentence", name: "behind sentences" },
];

/** The settings as parameters of the address: those that are not the default. */
export function toParams(settings: Settings): URLSearchParams {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(settings)) {
    if (value !== undefined && value !== DEFAULTS[name as keyof Settings]) params.set(name, String(value));
  }
  return params;
}

/** Reads an address that anybody may have written: what cannot be is the default. */
export function fromParams(params: URLSearchParams): Settings {
  const one = <Value extends string>(name: string, options: readonly Value[], standard: Value): Value =>
    options.find((option) => option === params.get(name)) ?? standard;
  const number = (name: string, least: number): number | undefined => {
    const value = Number(params.get(name) ?? Number.NaN);
    return Number.isInteger(value) && value >= least ? value : undefined;
  };
  const boundary = BOUNDARIES.find(({ value }) => value !== "" && value === params.get("boundary"))?.value;
  const [limit, piece] = [number("limit", 0), number("piece", 1)];
  return {
    tokenizer: params.get("tokenizer") ?? DEFAULTS.tokenizer,
    shown: one("shown", ["tokens", "cut", "split"], DEFAULTS.shown),
    colours: one("colours", ["tokens", "heat"], DEFAULTS.colours),
    ids: params.get("ids") === "true",
    side: one("side", ["end", "start", "middle"], DEFAULTS.side),
    marker: params.get("marker") ?? DEFAULTS.marker,
    overlap: number("overlap", 0) ?? DEFAULTS.overlap,
    markdown: params.get("markdown") === "true",
    ...(boundary ? { boundary } : {}),
    ...(limit === undefined ? {} : { limit }),
    ...(piece === undefined ? {} : { piece }),
  };
}

/** The options of `truncateText` that the settings are. */
export function cutOptions({ tokenizer, side, boundary, marker }: Settings): TruncateOptions {
  return {
    tokenizer,
    ...(side === "end" ? {} : { side }),
    ...(boundary ? { boundary } : {}),
    ...(marker ? { marker } : {}),
  };
}

/** The options of `splitText` that they are. */
export function splitOptions({ tokenizer, overlap, boundary, markdown }: Settings, maxTokens: number): SplitOptions {
  return {
    tokenizer,
    maxTokens,
    ...(overlap ? { overlap } : {}),
    ...(boundary ? { boundary } : {}),
    ...(markdown ? { markdown } : {}),
  };
}
