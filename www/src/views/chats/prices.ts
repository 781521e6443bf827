import { modelInfo } from "ctxweave/chat";
import { PersistedDocument } from "../../ui/own.js";

/** US dollars for a million tokens. */
export interface Price {
  /** Of the prompt. */
  input: number;
  /** Of tokens read from the cache. */
  cached: number;
  /** Of tokens written to the cache; equal to `input` if the provider charges nothing extra. */
  write: number;
  /** Of the answer; unknown if the user gave only the price of the prompt. */
  output?: number | undefined;
}

/** The list price of a model, from the package's table. */
export function listPrice(model: string): Price | undefined {
  const found = modelInfo(model)?.price;
  if (!found) return undefined;
  const { input, cacheRead = input, cacheWrite = input, output } = found;
  return { input, cached: cacheRead, write: cacheWrite, output };
}

/** The user's prices, which override those of the list. */
export const ownPrices = new PersistedDocument<Readonly<Record<string, Price>>>("prices");

/** The price of a model: the user's, otherwise the list price. */
export function priceOf(model: string | undefined): Price | undefined {
  if (model === undefined) return undefined;
  const [own, list] = [ownPrices.value.value?.[model], listPrice(model)];
  return own ? { ...list, ...own } : list;
}

export function setPrice(model: string, changed: Partial<Price>): void {
  const { input = 0 } = changed;
  const price = { input, cached: input, write: input, ...priceOf(model), ...changed };
  ownPrices.edit({ ...ownPrices.value.peek(), [model]: price });
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
