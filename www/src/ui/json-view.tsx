import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { CopyButton } from "./copy-button.js";
import { LARGE } from "./text-parts.js";
import { Windowed } from "./windowed.js";

/** A value as JSON. */
export function JsonView({ name, label, value }: { name: string; label: string; value: unknown }) {
  return <JsonText name={name} label={label} text={JSON.stringify(value, null, 2)} />;
}

/** A JSON text with a button that copies it; of a large one only the visible lines are rendered. */
export function JsonText(props: {
  name: string;
  /** The label of the button. */
  label: string;
  text: string | undefined;
  title?: ComponentChildren;
  /** What is copied, if it is not the text. */
  copied?: () => string;
  /** More tools. */
  children?: ComponentChildren;
}) {
  const { name, label, text, title = name, copied = () => text ?? "", children } = props;
  return (
    <div class="raw">
      <section>
        <div class="row raw-head">
          <h3>{title}</h3>
          {children}
          <CopyButton label={label} text={copied} />
        </div>
        {text !== undefined && text.length > LARGE ? (
          <LargeText name={name} text={text} />
        ) : (
          <pre tabIndex={0} aria-label={`${name} as JSON`} data-json={name}>
            {text ?? "…"}
          </pre>
        )}
      </section>
    </div>
  );
}

/** Number of lines that are rendered together, and of characters if they are long. */
const BLOCK_LINES = 40;
const BLOCK_LENGTH = 20_000;

function LargeText({ name, text }: { name: string; text: string }) {
  const starts = useMemo(() => blocksOf(text), [text]);
  const block = (at: number): string => text.slice(starts[at], starts[at + 1]).replace(/\n$/, "");
  return (
    <Windowed
      key={text.length}
      class="json-lines"
      label={`${name} as JSON`}
      outer={{ "data-json": name } as object}
      count={starts.length - 1}
      estimate={() => 18 * BLOCK_LINES}
      item={(at) => <pre>{block(at)}</pre>}
    />
  );
}

/** The beginning of each block of lines, and the end. */
function blocksOf(text: string): number[] {
  const starts = [0];
  for (let at = 0; at < text.length;) {
    const from = at;
    for (let line = 0; line < BLOCK_LINES && at >= 0 && at - from < BLOCK_LENGTH; line++) {
      at = text.indexOf("\n", at) + 1 || text.length;
    }
    // A line that is longer than a block is broken.
    at = Math.min(at, from + 2 * BLOCK_LENGTH);
    starts.push(at);
  }
  return starts;
}
