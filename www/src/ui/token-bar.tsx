import type { ComponentChildren } from "preact";
import { count } from "./format.js";

/** The shares of a chat's tokens, as in its report. */
export const CHAT_SHARES = [
  { id: "system", name: "System", tone: 3 },
  { id: "messages", name: "Messages", tone: 1 },
  { id: "tools", name: "Tools", tone: 4 },
  { id: "overhead", name: "Overhead", tone: 2 },
] as const;

/** A part of a whole, in tokens. `tone` 0 is the free part. */
export interface Share {
  id: string;
  name: string;
  tokens: number;
  tone: number;
}

/** Number of tones; further parts start over. */
const TONES = 6;

/** The tone of the part at this index. */
export function toneAt(place: number): number {
  return (place % TONES) + 1;
}

/** The distribution of tokens: a bar, and the same in numbers. */
export function TokenBar({ shares, children }: { shares: readonly Share[]; children?: ComponentChildren }) {
  const shown = shares.filter(({ tokens }) => tokens > 0);
  const inNumbers = shown.map(({ name, tokens }) => `${name} ${count(tokens)}`).join(", ");
  return (
    <section class="budget" aria-label="Tokens">
      <div class="bar" role="img" aria-label={inNumbers || "No tokens"}>
        <div class="bar-window" style={{ flexGrow: "1" }}>
          {shown.map(({ id, name, tokens, tone }) => (
            <div
              key={id}
              class={`piece tone-${tone}`}
              title={`${name}: ${count(tokens)}`}
              style={{ flexGrow: String(tokens) }}
            />
          ))}
        </div>
      </div>
      <dl class="bar-legend">
        {shares.map(({ id, name, tokens, tone }) => (
          <div key={id} class="legend-item">
            <dt>
              <span class={`swatch tone-${tone}`} aria-hidden="true" />
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
