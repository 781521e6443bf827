import { useSignal } from "@preact/signals";
import { bound } from "./bound.js";
import { Button, SmallButton } from "./button.js";
import { CopyButton } from "./copy-button.js";
import type { Code } from "./code.js";
import { Dialog } from "./dialog.js";
import { saveFile } from "./save.js";
import { Tabs } from "./tabs.js";

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
  const language = useSignal<"javascript" | "rust">("javascript");
  const program = code[language.value];
  const files = code.files.filter(({ name }) => program.includes(JSON.stringify(name)));
  return (
    <Dialog
      label="This view as code"
      width="w-[52rem]"
      onClose={onClose}
      actions={
        <>
          <CopyButton label="Copy" text={() => program} />
          <Button label="Close" type="submit" />
        </>
      }
    >
      <Tabs label="Language" tabs={{ javascript: "JavaScript", rust: "Rust" }} {...bound(language)}>
        <pre
          class="max-h-[56dvh] overflow-auto py-3 text-xs [tab-size:4]"
          tabIndex={0}
          aria-label="Program"
          data-code={language.value}
        >
          {program}
        </pre>
      </Tabs>
      {files.length > 0 ? (
        <p class="hint row gap-2 pt-2">
          It reads
          {files.map(({ name, content }) => (
            <SmallButton
              label={`Save ${name}`}
              key={name}
              data-file-of-code={name}
              onClick={() => saveFile(name, content)}
            />
          ))}
        </p>
      ) : null}
    </Dialog>
  );
}
