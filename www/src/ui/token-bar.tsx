import type { ComponentChildren } from "preact";
import { count } from "./format.js";
import { Icon } from "./icons.js";

/** The shares of a chat's tokens, as in its report. */
export const CHAT_SHARES = [
  { id: "system", name: "System" },
  { id: "messages", name: "Messages" },
  { id: "tools", name: "Tools" },
  { id: "overhead", name: "Overhead" },
] as const;

/** A part of a whole, in tokens. */
export interface Share {
  id: string;
  name: string;
  tokens: number;
  /** Its tone in theme.css, by number or name. Defaults to the one named like the id. */
  tone?: number | string;
  title?: string;
}

/** Number of tones; further parts start over. */
const TONES = 6;

/** The tone of the part at this index. */
export function toneAt(place: number): number {
  return (place % TONES) + 1;
}

/** Maximum share of the bar for tokens beyond the limit, so that the others remain readable. */
const MAX_BEYOND = 0.4;

/** The distribution of tokens: a bar, and the same in numbers. Without a limit they are no parts of it, and have no bar. */
export function TokenBar(props: {
  shares: readonly Share[];
  /** Tokens over the limit. */
  beyond?: Share | undefined;
  isPartOf?: boolean;
  label?: string;
  children?: ComponentChildren;
}) {
  const { shares, beyond, isPartOf = true, label = "Tokens", children } = props;
  const all = beyond ? [...shares, beyond] : shares;
  const inNumbers = all.flatMap(({ name, tokens }) => (tokens > 0 ? `${name} ${count(tokens)}` : [])).join(", ");
  const inside = shares.reduce((sum, { tokens }) => sum + tokens, 0);
  const over = beyond ? beyond.tokens / (inside + beyond.tokens) : 0;
  const shownOver = Math.min(over, MAX_BEYOND);
  return (
    <section
      class="budget grid gap-2.5 border-b border-line p-4 pb-2.5 last:border-b-0 max-two:gap-1.5 max-two:px-3 max-two:py-2"
      aria-label={label}
    >
      {isPartOf ? (
        <div class="bar flex h-6.5 gap-1 max-two:h-4.5" role="img" aria-label={inNumbers || "No tokens"}>
          <div
            class="flex min-w-0 basis-0 gap-px overflow-hidden rounded-s ring ring-line-strong"
            style={{ flexGrow: 1 - shownOver }}
          >
            {shares.map((share) =>
              share.tokens > 0 ? (
                <div
                  key={share.id}
                  class="min-w-0.5 basis-0"
                  title={`${share.name}: ${count(share.tokens)}`}
                  style={{ flexGrow: share.tokens, background: colourOf(share) }}
                />
              ) : null,
            )}
          </div>
          {beyond ? (
            <div
              class={`grid min-w-5.5 basis-0 place-items-center border border-dashed border-cut text-cut ${over > MAX_BEYOND ? "bar-torn border-e-0" : "rounded-s"}`}
              title={`${beyond.name}: ${count(beyond.tokens)}`}
              style={{ flexGrow: shownOver, background: colourOf(beyond) }}
            >
              <span class="rounded-s bg-surface p-px">
                <Icon name="scissors" />
              </span>
            </div>
          ) : null}
        </div>
      ) : null}
      <dl class="bar-legend row gap-x-5 gap-y-1 max-two:gap-x-3.5 max-two:gap-y-0">
        {all.map((share) => (
          <div key={share.id} class="max-two:flex max-two:gap-1.5 max-two:text-xs" title={share.title}>
            <dt class="flex items-center gap-1.5 text-xs wrap-anywhere text-ink-3">
              <span class={`swatch ${toneOf(share)}`} style={{ background: colourOf(share) }} aria-hidden="true" />
              {share.name}
            </dt>
            <dd class={`font-semibold tabular-nums ${share === beyond ? "text-cut" : ""}`} data-tokens={share.id}>
              {count(share.tokens)}
            </dd>
          </div>
        ))}
      </dl>
      {children}
    </section>
  );
}

const toneOf = ({ id, tone = id }: Share): string => (typeof tone === "number" ? `tone-${tone}` : tone);

const colourOf = ({ id, tone = id }: Share): string => `var(--tone-${tone})`;
