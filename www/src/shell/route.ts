import { effect } from "@preact/signals";

/**
 * The address holds the open view and its state: `#/loom?tree=story&tip=…`. Each view reads and writes only its part
 * after the question mark.
 */
export function currentView(): string {
  // Each view also has a separate page for links to it.
  return /^#\/([a-z-]+)/u.exec(location.hash)?.[1] ?? document.documentElement.dataset["view"] ?? "start";
}

/** The parameters in the address for a view; empty if another view is open. */
export function linkParams(view: string): URLSearchParams {
  const at = location.hash.indexOf("?");
  return new URLSearchParams(at < 0 || currentView() !== view ? "" : location.hash.slice(at + 1));
}

/**
 * Writes the view's part of the address. Navigation steps are pushed, everything else replaces the entry, so that
 * dragging a slider does not add a hundred entries to the history.
 */
export function writeAddress(view: string, params: URLSearchParams, push = false): void {
  if (currentView() !== view) return;
  const query = params.toString();
  const hash = `#/${view}${query ? `?${query}` : ""}`;
  if (hash === location.hash) return;
  if (push) history.pushState(null, "", hash);
  else history.replaceState(null, "", hash);
}

/** Calls `follow` when the address changes within this view; returns a function that stops it. */
export function onAddress(view: string, follow: () => void): () => void {
  const listener = (): void => {
    if (currentView() === view) follow();
  };
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}

/** Writes the settings into the address while the view is open; returns a function that stops it. */
export function keepAddress(view: string, write: () => URLSearchParams | undefined): () => void {
  return effect(() => {
    const params = write();
    if (!params) return;
    // The reader of a document in a link removes this parameter.
    const packed = linkParams(view).get("own");
    if (packed !== null) params.set("own", packed);
    writeAddress(view, params);
  });
}

/** Settings as parameters, without those that equal the default. */
export function paramsOf<Settings extends object>(settings: Settings, defaults: Settings): URLSearchParams {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(settings)) {
    if (value !== undefined && value !== defaults[name as keyof Settings]) params.set(name, String(value));
  }
  return params;
}

/** A parameter that is one of several words. The address is untrusted: an invalid value counts as missing. */
export function wordIn<Word extends string>(
  params: URLSearchParams,
  name: string,
  words: readonly Word[],
): Word | undefined {
  return words.find((word) => word === params.get(name));
}

/** A parameter that is a whole number of at least `least`. */
export function numberIn(params: URLSearchParams, name: string, least: number): number | undefined {
  const value = Number(params.get(name) ?? Number.NaN);
  return Number.isInteger(value) && value >= least ? value : undefined;
}
