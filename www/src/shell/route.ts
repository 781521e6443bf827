/**
 * The address says which view is open and what it shows: `#/loom?tree=story&tip=…`. The part after the question mark
 * belongs to the view.
 */
export function currentView(): string {
  return /^#\/([a-z-]+)/u.exec(location.hash)?.[1] ?? "";
}

export function linkParams(): URLSearchParams {
  const at = location.hash.indexOf("?");
  return new URLSearchParams(at < 0 ? "" : location.hash.slice(at + 1));
}

/** Replaces the view's part of the address; a drag of a slider is not a hundred steps to go back. */
export function replaceLink(params: URLSearchParams): void {
  const view = currentView() || "loom";
  const hash = `#/${view}?${params.toString()}`;
  if (hash !== location.hash) history.replaceState(null, "", hash);
}
