import type { ComponentChildren, Ref } from "preact";

/** A text area whose text can have marks: `children` is the same text with them, drawn below its letters. */
export function MarkedField(props: {
  label: string;
  value: string;
  onText: (text: string) => void;
  children: ComponentChildren;
  wraps?: boolean;
  placeholder?: string;
  area?: Ref<HTMLTextAreaElement>;
  describedBy?: string;
  isInvalid?: boolean;
}) {
  const { wraps } = props;
  // The two have the same letters at the same positions. The frame scrolls both.
  const letters = `[grid-area:1/1] px-4 py-3 font-mono text-[13px]/5 [tab-size:2] ${
    wraps ? "whitespace-pre-wrap wrap-break-word" : "whitespace-pre"
  }`;
  return (
    <div class="code-frame min-h-48 flex-1 overflow-auto rounded-t-m -outline-offset-2 outline-accent focus-within:outline-2">
      <div class={`code-text grid min-h-full ${wraps ? "w-full" : "w-max min-w-full"}`}>
        <pre class={`${letters} pointer-events-none text-transparent`} aria-hidden="true">
          {props.children}
          {"\n"}
        </pre>
        <textarea
          class={`${letters} resize-none overflow-hidden rounded-none border-0 bg-transparent outline-0`}
          ref={props.area ?? null}
          aria-label={props.label}
          aria-describedby={props.describedBy}
          aria-invalid={props.isInvalid}
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          placeholder={props.placeholder}
          wrap={wraps ? "soft" : "off"}
          value={props.value}
          onInput={(event) => props.onText(event.currentTarget.value)}
        />
      </div>
    </div>
  );
}
