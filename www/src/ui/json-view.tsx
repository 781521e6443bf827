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
    <section class="raw">
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
  );
}

/** Lines that are rendered together; of a long line, its parts. */
const BLOCK = /(?:[^\n]{1,500}\n?|\n){1,40}/gu;

function LargeText({ name, text }: { name: string; text: string }) {
  const blocks = useMemo(() => text.match(BLOCK) ?? [], [text]);
  return (
    <Windowed
      key={text.length}
      label={`${name} as JSON`}
      outer={{ "data-json": name } as object}
      count={blocks.length}
      estimate={() => 18 * 40}
      item={(at) => <div class="font-mono">{blocks[at]?.replace(/\n$/, "")}</div>}
    />
  );
}
