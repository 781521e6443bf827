import { PersistedDocument } from "../../ui/own.js";

/** US dollars for a million tokens. */
export interface Price {
  /** Of the prompt. */
  input: number;
  /** Of tokens read from the cache. */
  cached: number;
  /** Of tokens written to the cache; equal to `input` if the provider charges nothing extra. */
  write: number;
}

export type Prices = Readonly<Record<string, Price>>;

/** The date of the list prices below, from LiteLLM's table. */
export const PRICES_OF = "2026-11-24";

const price = (input: number, cached: number, write = input): Price => ({ input, cached, write });

export const LIST_PRICES: Prices = {
  "claude-opus-5-5": price(4, 0.2, 5),
  "claude-sonnet-5-5": price(2, 0.1, 2.5),
  "claude-haiku-5-5": price(0.1, 0.01, 0.125),
  "claude-sonnet-4-5": price(3, 0.3, 3.75),
  "claude-haiku-4-5": price(1, 0.1, 1.25),
  "gpt-6.1-sol": price(2, 0.1, 2.5),
  "gpt-6.1-terra": price(1, 0.05, 1.25),
  "gpt-6-luna": price(0.1, 0.01, 0.125),
  "gpt-5.6": price(4, 0.4, 5),
  "gpt-5-mini": price(0.25, 0.025),
  "gpt-4.1": price(2, 0.5),
  "gpt-4o": price(2.5, 1.25),
  "gpt-4": price(30, 30),
  "gemini-3.1-pro-preview": price(2, 0.2),
  "gemini-3.8-flash": price(0.75, 0.075),
  "gemini-2.5-pro": price(1.25, 0.125),
  "deepseek-v4-pro": price(1.32, 0.044),
};

/** The user's prices, which override those of the list. */
export const ownPrices = new PersistedDocument<Prices>("prices");

export function priceOf(model: string | undefined): Price | undefined {
  return model === undefined ? undefined : (ownPrices.value.value?.[model] ?? LIST_PRICES[model]);
}

export function setPrice(model: string, changed: Partial<Price>): void {
  const before = priceOf(model) ?? price(0, 0);
  ownPrices.edit({ ...ownPrices.value.peek(), [model]: { ...before, ...changed } });
}

/** Restores the list price. */
export function resetPrice(model: string): void {
  const { [model]: _, ...rest } = ownPrices.value.peek() ?? {};
  ownPrices.edit(rest);
}

export const dollars = (tokens: number, perMillion: number): number => (tokens / 1e6) * perMillion;

/** `$1.20`, `$0.0123`, `$0.00004` */
export function money(value: number): string {
  const digits = Math.abs(value) >= 1 || value === 0 ? 2 : Math.min(2 - Math.floor(Math.log10(Math.abs(value))), 6);
  return `${value < 0 ? "−" : ""}$${Math.abs(value).toFixed(digits)}`;
}
