import { effect } from "@preact/signals";

/**
 * The address says which view is open and what it shows: `#/loom?tree=story&tip=…`. The part after the question mark
 * belongs to the view, and no view reads or writes another's.
 */
export function currentView(): string {
  // Each view has a page of its own, too, for those who link there.
  return /^#\/([a-z-]+)/u.exec(location.hash)?.[1] ?? document.documentElement.dataset["view"] ?? "start";
}

/** What the address says to a view; nothing where it is another's. */
export function linkParams(view: string): URLSearchParams {
  const at = location.hash.indexOf("?");
  return new URLSearchParams(at < 0 || currentView() !== view ? "" : location.hash.slice(at + 1));
}

/**
 * Writes the view's part of the address. What is a step to go back to is pushed, all else replaced: a drag of a slider is not
 * a hundred steps.
 */
export function writeAddress(view: string, params: URLSearchParams, push = false): void {
  if (currentView() !== view) return;
  const query = params.toString();
  const hash = `#/${view}${query ? `?${query}` : ""}`;
  if (hash === location.hash) return;
  if (push) history.pushState(null, "", hash);
  else history.replaceState(null, "", hash);
}

/** Calls when the address changes and is still this view's; gives back the way to stop. */
export function onAddress(view: string, follow: () => void): () => void {
  const listener = (): void => {
    if (currentView() === view) follow();
  };
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}

/** Writes what is set into the address for as long as the view is open; gives back the way to stop. */
export function keepAddress(view: string, write: () => URLSearchParams | undefined): () => void {
  return effect(() => {
    const params = write();
    if (!params) return;
    // What of one's own a link carries is taken out by what reads it.
    const packed = linkParams(view).get("own");
    if (packed !== null) params.set("own", packed);
    writeAddress(view, params);
  });
}

/** Settings as parameters: those that are not the default. */
export function paramsOf<Settings extends object>(settings: Settings, defaults: Settings): URLSearchParams {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(settings)) {
    if (value !== undefined && value !== defaults[name as keyof Settings]) params.set(name, String(value));
  }
  return params;
}

/** A parameter that is one of several words. Anybody may have written an address: what cannot be is not there. */
export function wordIn<Word extends string>(
  params: URLSearchParams,
  name: string,
  words: readonly Word[],
): Word | undefined {
  return words.find((word) => word === params.get(name));
}

/** A parameter that is a whole number, and not too small. */
export function numberIn(params: URLSearchParams, name: string, least: number): number | undefined {
  const value = Number(params.get(name) ?? Number.NaN);
  return Number.isInteger(value) && value >= least ? value : undefined;
}
