import type { ComponentChildren } from "preact";
import { count } from "./format.js";
import { Icon } from "./icons.js";

/** The shares of a chat's tokens, as in its report. */
export const CHAT_SHARES = [
  { id: "system", name: "System", tone: "system" },
  { id: "messages", name: "Messages", tone: "messages" },
  { id: "tools", name: "Tools", tone: "tools" },
  { id: "overhead", name: "Overhead", tone: "overhead" },
] as const;

/** A part of a whole, in tokens. Its tone is that of its kind, or a number for parts without one; 0 is the free part. */
export interface Share {
  id: string;
  name: string;
  tokens: number;
  tone: number | "system" | "messages" | "tools" | "overhead" | "free" | "reserve" | "over" | "beyond";
  title?: string;
}

/** Number of tones; further parts start over. */
const TONES = 6;

/** The tone of the part at this index. */
export function toneAt(place: number): number {
  return (place % TONES) + 1;
}

const classOf = (tone: Share["tone"]): string => (typeof tone === "number" ? `tone-${tone}` : tone);
const colourOf = (tone: Share["tone"]): string => `var(--tone-${tone})`;

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
  const shown = shares.filter(({ tokens }) => tokens > 0);
  const all = beyond ? [...shares, beyond] : shares;
  const inNumbers = all.flatMap(({ name, tokens }) => (tokens > 0 ? `${name} ${count(tokens)}` : [])).join(", ");
  const inside = shares.reduce((sum, { tokens }) => sum + tokens, 0);
  const over = beyond ? beyond.tokens / (inside + beyond.tokens) : 0;
  return (
    <section class="budget" aria-label={label}>
      {isPartOf ? (
        <div class="bar" role="img" aria-label={inNumbers || "No tokens"}>
          <div class="bar-window" style={{ flexGrow: String(1 - Math.min(over, MAX_BEYOND)) }}>
            {shown.map(({ id, name, tokens, tone }) => (
              <div
                key={id}
                class="piece"
                title={`${name}: ${count(tokens)}`}
                style={{ flexGrow: String(tokens), background: colourOf(tone) }}
              />
            ))}
          </div>
          {beyond ? (
            <div
              class={`piece beyond ${over > MAX_BEYOND ? "broken" : ""}`}
              title={`${beyond.name}: ${count(beyond.tokens)}`}
              style={{ flexGrow: String(Math.min(over, MAX_BEYOND)), background: colourOf("beyond") }}
            >
              <Icon name="scissors" />
            </div>
          ) : null}
        </div>
      ) : null}
      <dl class="bar-legend">
        {all.map(({ id, name, tokens, tone, title }) => (
          <div key={id} class={`legend-item ${classOf(tone)}`} title={title}>
            <dt>
              <span class={`swatch ${classOf(tone)}`} style={{ background: colourOf(tone) }} aria-hidden="true" />
              {name}
            </dt>
            <dd data-tokens={id}>{count(tokens)}</dd>
          </div>
        ))}
      </dl>
      {children}
    </section>
  );
}
