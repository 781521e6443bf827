import type { Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { SmallButton } from "./button.js";
import { count } from "./format.js";
import { join, wholePlace } from "./text-edits.js";

/** Length above which a text is edited part by part and processed in a worker: a field lays out its whole text at once. */
export const LARGE = 200_000;
/** Characters of a part. */
const PART = 50_000;

/** The text before the shown part, the part, and the text after it. */
type Pieces = readonly [string, string, string];

const partsOf = (text: string): number => Math.ceil(text.length / PART);

/** The beginning and the end of a part. */
export const partRange = (text: string, part: number): [number, number] => [
  wholePlace(text, Math.min(part * PART, text.length)),
  wholePlace(text, Math.min((part + 1) * PART, text.length)),
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
  const shown = isLarge ? Math.min(part.value, partsOf(text) - 1) : 0;
  useEffect(() => {
    if (part.value !== shown) part.value = shown;
  });
  const edited = useRef<{ text: string; part: number; pieces: Pieces } | undefined>(undefined);
  const { current: last } = edited;
  // While a part is edited it grows and shrinks: with a fixed length its field would change, and the cursor would jump.
  const isSame = last?.text === text && last.part === shown;
  const [head, value, tail] = isSame ? last.pieces : piecesOf(text, isLarge ? partRange(text, shown) : undefined);
  const onInput = (written: string): void => {
    const pieces: Pieces = [head, written, tail];
    const whole = join(text, pieces);
    edited.current = { text: whole, part: shown, pieces };
    onText(whole);
  };
  return (
    <>
      {isLarge ? <PartPicker parts={partsOf(text)} part={part} /> : null}
      <textarea
        class={`source-text ${props.class ?? ""}`}
        aria-label={props.label}
        spellcheck={false}
        autocapitalize="off"
        autocomplete="off"
        placeholder={props.placeholder}
        value={value}
        onInput={(event) => (isLarge ? onInput : onText)(event.currentTarget.value)}
      />
    </>
  );
}

const piecesOf = (text: string, [from, to] = [0, text.length]): Pieces => [
  text.slice(0, from),
  text.slice(from, to),
  text.slice(to),
];

function PartPicker({ parts, part }: { parts: number; part: Signal<number> }) {
  return (
    <div class="text-parts">
      <SmallButton label="Previous" disabled={part.value === 0} onClick={() => (part.value -= 1)} />
      <input
        class="min-w-12 flex-1"
        type="range"
        min={0}
        max={parts - 1}
        value={part.value}
        aria-label="Part of the text"
        aria-valuetext={`Part ${part.value + 1} of ${parts}`}
        onInput={(event) => (part.value = Number(event.currentTarget.value))}
      />
      <SmallButton label="Next" disabled={part.value >= parts - 1} onClick={() => (part.value += 1)} />
      <output>
        Part {count(part.value + 1)} of {count(parts)}
      </output>
    </div>
  );
}
