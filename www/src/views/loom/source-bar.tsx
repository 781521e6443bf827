import { useEffect, useRef, useState } from "preact/hooks";
import { CopyButton } from "../../ui/copy-button.js";
import { count } from "../../ui/format.js";
import { Icon } from "../../ui/icons.js";
import { Segmented } from "../../ui/fields.js";
import { MessageText } from "../../ui/message.js";
import { SAMPLES } from "./samples.js";
import { open, openFile, opening, openProblem, openSample } from "./state.js";

/** Which tree is open, and the ways to open another. */
export function SourceBar() {
  const input = useRef<HTMLInputElement>(null);
  const at = open.value;
  const dropping = useDrop();
  const options: { value: string; name: string }[] = SAMPLES.map(({ id, name }) => ({ value: id, name }));
  if (at?.source === "file") options.push({ value: "file", name: at.name });
  const sample = SAMPLES.find((s) => s.id === at?.source);
  return (
    <div class="source" aria-busy={opening.value !== undefined}>
      <Segmented
        label="Tree"
        options={options}
        value={opening.value ?? at?.source ?? ""}
        onValue={(id) => {
          if (id !== "file") void openSample(id);
        }}
      />
      <button type="button" class="quiet" onClick={() => input.current?.click()}>
        <Icon name="file" />
        Open a file…
      </button>
      <input
        ref={input}
        type="file"
        id="tree-file"
        class="visually-hidden"
        accept=".json,application/json"
        aria-label="A tree of your own, as a JSON file"
        tabIndex={-1}
        onChange={(event) => {
          const field = event.currentTarget;
          const file = field.files?.[0];
          if (file) void read(file);
          field.value = "";
        }}
      />
      <p class="about">
        {at ? (
          <>
            <strong>{at.tree.title ?? at.name}</strong>
            <span>
              {" "}
              {count(at.tree.nodes.length)} nodes, {count(at.tree.edges.length)} edges
              {sample ? ` · ${sample.about}` : ""}
            </span>
          </>
        ) : (
          "Loading…"
        )}
      </p>
      <CopyButton label="Copy link" icon="link" text={() => location.href} />
      {openProblem.value ? (
        <div class="notice problem" role="alert">
          <p>
            <strong>{openProblem.value.name}</strong>: <MessageText text={openProblem.value.message} />
          </p>
          <p class="quiet-text">
            <MessageText text={openProblem.value.hint} />
          </p>
          <button type="button" class="reset" aria-label="Dismiss" onClick={() => (openProblem.value = undefined)}>
            <Icon name="close" />
          </button>
        </div>
      ) : null}
      {dropping ? (
        <div class="drop" aria-hidden="true">
          <p>Drop the file to open it</p>
        </div>
      ) : null}
    </div>
  );
}

async function read(file: File): Promise<void> {
  try {
    openFile(file.name, await file.text());
  } catch (error) {
    openProblem.value = {
      name: file.name,
      message: `the file could not be read: ${(error as Error).message}`,
      hint: "Nothing was changed.",
    };
  }
}

/** A file may be dropped anywhere on the page. */
function useDrop(): boolean {
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
        if (file) void read(file);
      },
      listen,
    );
    return () => off.abort();
  }, []);
  return over;
}
