import type { ComponentChildren } from "preact";
import { count } from "./format.js";

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
  tone: number | "system" | "messages" | "tools" | "overhead" | "free";
}

/** Number of tones; further parts start over. */
const TONES = 6;

/** The tone of the part at this index. */
export function toneAt(place: number): number {
  return (place % TONES) + 1;
}

const classOf = (tone: Share["tone"]): string => (typeof tone === "number" ? `tone-${tone}` : tone);

/** The distribution of tokens: a bar, and the same in numbers. Without a limit they are no parts of it, and have no bar. */
export function TokenBar(props: { shares: readonly Share[]; isPartOf?: boolean; children?: ComponentChildren }) {
  const { shares, isPartOf = true, children } = props;
  const shown = shares.filter(({ tokens }) => tokens > 0);
  const inNumbers = shown.map(({ name, tokens }) => `${name} ${count(tokens)}`).join(", ");
  return (
    <section class="budget" aria-label="Tokens">
      {isPartOf ? (
        <div class="bar" role="img" aria-label={inNumbers || "No tokens"}>
          <div class="bar-window" style={{ flexGrow: "1" }}>
            {shown.map(({ id, name, tokens, tone }) => (
              <div
                key={id}
                class={`piece ${classOf(tone)}`}
                title={`${name}: ${count(tokens)}`}
                style={{ flexGrow: String(tokens) }}
              />
            ))}
          </div>
        </div>
      ) : null}
      <dl class="bar-legend">
        {shares.map(({ id, name, tokens, tone }) => (
          <div key={id} class="legend-item">
            <dt>
              <span class={`swatch ${classOf(tone)}`} aria-hidden="true" />
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
