import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icons.js";

/** A button that opens a file from the disk. Nothing leaves the page. */
export function OpenFile(props: {
  label: string;
  /** Of the field behind the button. */
  id: string;
  /** Which files it takes, as the field's `accept`. */
  accept: string;
  /** What the file is, for those who cannot see the button. */
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

/** A file may be dropped anywhere on the page; as one is held over it, what is said here is shown. */
export function DropFile({ hint, onFile }: { hint: string; onFile: (file: File) => void }) {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const off = new AbortController();
    const listen = { signal: off.signal };
    const carriesFile = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
    addEventListener(
      "dragover",
      (event) => {
        if (!carriesFile(event)) return;
        event.preventDefault();
        setOver(true);
      },
      listen,
    );
    addEventListener(
      "dragleave",
      (event) => {
        if (event.relatedTarget === null) setOver(false);
      },
      listen,
    );
    addEventListener(
      "drop",
      (event) => {
        if (!carriesFile(event)) return;
        event.preventDefault();
        setOver(false);
        const file = event.dataTransfer?.files[0];
        if (file) onFile(file);
      },
      listen,
    );
    return () => off.abort();
  }, []);
  return over ? (
    <div class="drop" aria-hidden="true">
      <p>{hint}</p>
    </div>
  ) : null;
}
