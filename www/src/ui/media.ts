import { signal, type ReadonlySignal } from "@preact/signals";

export function media(query: string): ReadonlySignal<boolean> {
  const list = matchMedia(query);
  const matches = signal(list.matches);
  list.addEventListener("change", (event) => {
    matches.value = event.matches;
  });
  return matches;
}

/** Wide enough for one pane; the style sheets use the same widths. */
export const narrow = media("(max-width: 820px)");
/** Wide enough for two panes. */
export const middling = media("(min-width: 821px) and (max-width: 1180px)");
