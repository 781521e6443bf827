import type { SplitOptions, TextBoundary, TruncateOptions } from "ctxweave/tokens";
import { numberIn, wordIn } from "../../shell/route.js";

export type Shown = "tokens" | "cut" | "split";
type Side = NonNullable<TruncateOptions["side"]>;

/** Settings of the text. */
export interface Settings {
  tokenizer: string;
  shown: Shown;
  /** Meaning of the colours: token boundaries, or cost per character. */
  colours: "tokens" | "heat";
  /** Whether the id of each token is shown below it. */
  ids: boolean;
  /** Maximum tokens of the truncated text. Default: half of the text's. */
  limit?: number | undefined;
  side: Side;
  marker: string;
  /** Maximum tokens of a piece. Default: a fifth of the text's. */
  piece?: number | undefined;
  overlap: number;
  markdown: boolean;
  /** Where to cut; empty for the package's default. */
  boundary: TextBoundary | "";
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
  boundary: "",
};

export const SIDES: Record<Side, string> = { end: "the end", start: "the start", middle: "the middle" };

export const BOUNDARIES: Record<TextBoundary | "", string> = {
  "": "default",
  token: "between tokens",
  grapheme: "between characters",
  word: "between words",
  line: "after lines",
  sentence: "after sentences",
};

/** The settings in an address. */
export function fromParams(params: URLSearchParams): Settings {
  return {
    tokenizer: params.get("tokenizer") ?? DEFAULTS.tokenizer,
    shown: wordIn(params, "shown", ["tokens", "cut", "split"]) ?? DEFAULTS.shown,
    colours: wordIn(params, "colours", ["tokens", "heat"]) ?? DEFAULTS.colours,
    ids: params.get("ids") === "true",
    side: wordIn(params, "side", ["end", "start", "middle"]) ?? DEFAULTS.side,
    marker: params.get("marker") ?? DEFAULTS.marker,
    overlap: numberIn(params, "overlap", 0) ?? DEFAULTS.overlap,
    markdown: params.get("markdown") === "true",
    boundary: wordIn(params, "boundary", Object.keys(BOUNDARIES) as TextBoundary[]) ?? DEFAULTS.boundary,
    limit: numberIn(params, "limit", 0),
    piece: numberIn(params, "piece", 1),
  };
}

/** The options of `truncateText`; those that equal the package's defaults are left out. */
export const cutOptions = ({ tokenizer, side, boundary, marker }: Settings): TruncateOptions => ({
  tokenizer,
  side: side === "end" ? undefined : side,
  boundary: boundary || undefined,
  marker: marker || undefined,
});

/** The options of `splitText`. */
export const splitOptions = (
  { tokenizer, overlap, boundary, markdown }: Settings,
  maxTokens: number,
): SplitOptions => ({
  tokenizer,
  maxTokens,
  overlap: overlap || undefined,
  boundary: boundary || undefined,
  markdown: markdown || undefined,
});
