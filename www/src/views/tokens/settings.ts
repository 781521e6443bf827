import type { SplitOptions, TextBoundary, TruncateOptions } from "ctxweave/tokens";
import { numberIn, wordIn } from "../../shell/route.js";

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

/** What an address says. */
export function fromParams(params: URLSearchParams): Settings {
  const boundaries = BOUNDARIES.flatMap(({ value }) => (value === "" ? [] : [value]));
  return {
    tokenizer: params.get("tokenizer") ?? DEFAULTS.tokenizer,
    shown: wordIn(params, "shown", ["tokens", "cut", "split"]) ?? DEFAULTS.shown,
    colours: wordIn(params, "colours", ["tokens", "heat"]) ?? DEFAULTS.colours,
    ids: params.get("ids") === "true",
    side: wordIn(params, "side", ["end", "start", "middle"]) ?? DEFAULTS.side,
    marker: params.get("marker") ?? DEFAULTS.marker,
    overlap: numberIn(params, "overlap", 0) ?? DEFAULTS.overlap,
    markdown: params.get("markdown") === "true",
    boundary: wordIn(params, "boundary", boundaries),
    limit: numberIn(params, "limit", 0),
    piece: numberIn(params, "piece", 1),
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
