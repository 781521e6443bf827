import type { Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { count } from "./format.js";

/** Length above which a text is edited part by part and processed in a worker: a field lays out its whole text at once. */
export const LARGE = 200_000;
/** Characters of a part. */
const PART = 50_000;

export const partsOf = (text: string): number => Math.max(Math.ceil(text.length / PART), 1);

/** The beginning and the end of a part. */
export const partRange = (text: string, part: number): [number, number] => [
  Math.min(part * PART, text.length),
  Math.min((part + 1) * PART, text.length),
];

/** The part that contains a position. */
export const partAt = (place: number): number => Math.floor(place / PART);

/** A field for a text of any length: of a large one, a part. */
export function TextField(props: {
  text: string;
  label: string;
  placeholder: string;
  class?: string;
  /** The shown part of a large text. */
  part: Signal<number>;
  onText: (text: string) => void;
}) {
  const { text, part, onText } = props;
  const isLarge = text.length > LARGE;
  const parts = isLarge ? partsOf(text) : 1;
  const shown = Math.min(part.value, parts - 1);
  useEffect(() => {
    if (part.value !== shown) part.value = shown;
  });
  const edited = useRef<{ text: string; part: number; to: number } | undefined>(undefined);
  const [from, end] = isLarge ? partRange(text, shown) : [0, text.length];
  // While a part is edited it grows and shrinks: with a fixed length its field would change, and the cursor would jump.
  const { current: last } = edited;
  const to = last?.text === text && last.part === shown ? last.to : end;
  const onInput = (value: string): void => {
    const next = text.slice(0, from) + value + text.slice(to);
    edited.current = { text: next, part: shown, to: from + value.length };
    onText(next);
  };
  return (
    <>
      {isLarge ? <PartPicker text={text} part={part} /> : null}
      <textarea
        class={`source-text ${props.class ?? ""}`}
        aria-label={props.label}
        spellcheck={false}
        autocapitalize="off"
        autocomplete="off"
        placeholder={props.placeholder}
        value={isLarge ? text.slice(from, to) : text}
        onInput={({ currentTarget: { value } }) => (isLarge ? onInput(value) : onText(value))}
      />
    </>
  );
}

function PartPicker({ text, part }: { text: string; part: Signal<number> }) {
  const parts = partsOf(text);
  const move = (to: number): void => {
    part.value = Math.min(Math.max(to, 0), parts - 1);
  };
  return (
    <div class="text-parts">
      <button type="button" class="small" disabled={part.value === 0} onClick={() => move(part.value - 1)}>
        Previous
      </button>
      <input
        type="range"
        min={0}
        max={parts - 1}
        value={part.value}
        aria-label="Part of the text"
        aria-valuetext={`Part ${part.value + 1} of ${parts}`}
        onInput={(event) => move(Number(event.currentTarget.value))}
      />
      <button type="button" class="small" disabled={part.value >= parts - 1} onClick={() => move(part.value + 1)}>
        Next
      </button>
      <output>
        Part {count(part.value + 1)} of {count(parts)}
      </output>
    </div>
  );
}
