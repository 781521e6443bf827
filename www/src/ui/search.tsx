import type { Signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { IconButton } from "./button.js";
import { count } from "./format.js";

/** Whether one of the texts contains the words that are searched, in any case. */
export function contains(query: string, ...texts: readonly (string | undefined)[]): boolean {
  const needle = query.trim().toLocaleLowerCase();
  return needle === "" || texts.some((text) => text?.toLocaleLowerCase().includes(needle));
}

/** Maximum number of matches that are counted. */
const MAX_MATCHES = 1000;

/** The position of each match in a text, in any case. */
export function matchesIn(text: string, query: string): number[] {
  if (query.trim() === "") return [];
  const places: number[] = [];
  const pattern = new RegExp(query.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "gi");
  for (const { index } of text.matchAll(pattern)) if (places.push(index) === MAX_MATCHES) break;
  return places;
}

/** A field for the words to search. */
export function SearchField(props: {
  label: string;
  query: Signal<string>;
  placeholder?: string;
  class?: string;
  onQuery?: () => void;
  /** Enter goes to the next match, with Shift to the previous one. */
  onEnter?: (step: 1 | -1) => void;
}) {
  const { query } = props;
  return (
    <input
      type="search"
      class={props.class}
      aria-label={props.label}
      placeholder={props.placeholder ?? "Search"}
      value={query.value}
      onInput={(event) => {
        query.value = event.currentTarget.value;
        props.onQuery?.();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || !props.onEnter) return;
        event.preventDefault();
        props.onEnter(event.shiftKey ? -1 : 1);
      }}
    />
  );
}

/** A search that goes from match to match, for a view whose parts stay in place. */
export function Find(props: {
  label: string;
  query: Signal<string>;
  /** Number of matches. */
  found: number;
  /** The shown match; -1 if none was shown yet. */
  at: Signal<number>;
  onGo: (match: number) => void;
}) {
  const { query, found, at } = props;
  useLayoutEffect(() => {
    // After an edit the number of the shown match is that of another.
    at.value = -1;
  }, [found]);
  const go = (step: 1 | -1): void => {
    if (found === 0) return;
    // The first step back leads to the last match.
    at.value = at.value < 0 && step < 0 ? found - 1 : (at.value + step + found) % found;
    props.onGo(at.value);
  };
  const many = found === MAX_MATCHES ? `${count(found)} or more` : count(found);
  return (
    <div class="find" role="search" aria-label={props.label}>
      <SearchField label={props.label} query={query} onQuery={() => (at.value = -1)} onEnter={go} />
      {query.value.trim() === "" ? null : (
        <>
          <span class="quiet-text" role="status" data-found={found}>
            {found === 0 ? "No match" : at.value < 0 ? `${many} found` : `${count(at.value + 1)} of ${many}`}
          </span>
          {found === 0 ? null : (
            <>
              <IconButton icon="up" label="Previous match" class="small" onClick={() => go(-1)} />
              <IconButton icon="down" label="Next match" class="small" onClick={() => go(1)} />
            </>
          )}
        </>
      )}
    </div>
  );
}
