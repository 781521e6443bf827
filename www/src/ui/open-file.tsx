import { useRef } from "preact/hooks";
import { Icon } from "./icons.js";

/** A button that opens a file from the disk. Nothing leaves the page. */
export function OpenFile(props: {
  label: string;
  /** Id of the file input. */
  id: string;
  /** Accepted files, as the input's `accept`. */
  accept: string;
  /** Description of the file for screen readers. */
  about: string;
  onFile: (file: File) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" class="quiet" onClick={() => input.current?.click()}>
        <Icon name="file" />
        {props.label}
      </button>
      <input
        ref={input}
        type="file"
        id={props.id}
        class="visually-hidden"
        accept={props.accept}
        aria-label={props.about}
        tabIndex={-1}
        onChange={(event) => {
          const field = event.currentTarget;
          const file = field.files?.[0];
          if (file) props.onFile(file);
          field.value = "";
        }}
      />
    </>
  );
}
