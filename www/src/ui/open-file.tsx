import { useRef } from "preact/hooks";
import type { Target } from "../reader/kinds.js";
import { openDropped } from "../shell/dropped.js";
import { Button } from "./button.js";

/** A button that opens files from the disk like dropped ones. Nothing leaves the page. */
export function OpenFile(props: {
  label: string;
  /** Id of the file input. */
  id: string;
  /** Description of the file for screen readers. */
  about: string;
  /** The view to open a file in, unless its kind is only for another. */
  view?: Target;
}) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button label={props.label} icon="file" onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        id={props.id}
        class="sr-only"
        multiple
        aria-label={props.about}
        tabIndex={-1}
        onChange={(event) => {
          const field = event.currentTarget;
          const [first, ...others] = [...(field.files ?? [])];
          if (first) {
            const found = [first, ...others].map((file) => ({ path: file.name, file: async () => file }));
            void openDropped(others.length > 0 ? "Opened files" : first.name, found, { preferred: props.view });
          }
          field.value = "";
        }}
      />
    </>
  );
}
