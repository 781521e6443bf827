import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { bound } from "./bound.js";
import { Button, SmallButton } from "./button.js";
import { CopyButton } from "./copy-button.js";
import type { Code } from "./code.js";
import { saveFile } from "./save.js";
import { Tabs } from "./tabs.js";

type Language = "javascript" | "rust";

/** Shows and copies a program that does with the package what the view shows. */
export function CopyAsCode({ code }: { code: () => Code | undefined | Promise<Code | undefined> }) {
  const shown = useSignal<Code | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const show = async (): Promise<void> => {
    problem.value = undefined;
    try {
      shown.value = await code();
    } catch (error) {
      problem.value = (error as Error).message;
    }
  };
  return (
    <>
      <Button label="Copy as code" icon="copy" onClick={() => void show()} />
      {problem.value ? <p role="alert">{problem.value}</p> : null}
      {shown.value ? <CodeDialog code={shown.value} onClose={() => (shown.value = undefined)} /> : null}
    </>
  );
}

function CodeDialog({ code, onClose }: { code: Code; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const language = useSignal<Language>("javascript");
  useEffect(() => dialog.current?.showModal(), []);
  const program = code[language.value];
  const files = code.files.filter(({ name }) => program.includes(JSON.stringify(name)));
  return (
    <dialog ref={dialog} class="ask code-dialog" aria-label="This view as code" onClose={onClose}>
      <Tabs<Language> label="Language" tabs={{ javascript: "JavaScript", rust: "Rust" }} {...bound(language)}>
        <pre tabIndex={0} aria-label="Program" data-code={language.value}>
          {program}
        </pre>
      </Tabs>
      {files.length > 0 ? (
        <p class="hint row code-files">
          It reads
          {files.map(({ name, content }) => (
            <SmallButton
              label={`Save ${name}`}
              key={name}
              data-file-of-code={name}
              onClick={() => saveFile(name, bytesOf(content))}
            />
          ))}
        </p>
      ) : null}
      <div class="ask-answers">
        <CopyButton label="Copy" text={() => program} />
        <Button onClick={() => dialog.current?.close()}>Close</Button>
      </div>
    </dialog>
  );
}

function bytesOf(content: string | Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return typeof content === "string" ? new TextEncoder().encode(content) : content;
}
