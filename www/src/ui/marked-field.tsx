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
  return (
    <div class={`code-frame ${props.wraps ? "wraps" : ""}`}>
      <div class="code-text">
        <pre aria-hidden="true">
          {props.children}
          {"\n"}
        </pre>
        <textarea
          ref={props.area ?? null}
          aria-label={props.label}
          aria-describedby={props.describedBy}
          aria-invalid={props.isInvalid}
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          placeholder={props.placeholder}
          wrap={props.wraps ? "soft" : "off"}
          value={props.value}
          onInput={(event) => props.onText(event.currentTarget.value)}
        />
      </div>
    </div>
  );
}
