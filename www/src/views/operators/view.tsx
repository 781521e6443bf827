import { useSignal } from "@preact/signals";
import { writeTask } from "ctxweave/operators";
import { bound } from "../../ui/bound.js";
import { Button } from "../../ui/button.js";
import { CopyAsCode } from "../../ui/copy-as-code.js";
import { CopyButton } from "../../ui/copy-button.js";
import { useOpener } from "../../ui/drop.js";
import { Check, optionsOf, Segmented } from "../../ui/fields.js";
import { OpenFile } from "../../ui/open-file.js";
import { OwnTools } from "../../ui/own-tools.js";
import { Panes } from "../../ui/panes.js";
import { SamplePicker } from "../../ui/sample-picker.js";
import { useReachable } from "../../ui/reachable.js";
import { useAddress } from "../../ui/use-address.js";
import { Assembly } from "./assembly.js";
import { codeOfOperators } from "./code.js";
import { Editor, TemplateFindings } from "./editor.js";
import { RunPanel } from "./run-panel.js";
import { SAMPLES } from "./samples.js";
import { begin, exclusive, mode, open, own, template, xml } from "./state.js";
import { OperatorTree } from "./tree.js";

/** A task template, its operators, and the assembly of one context. */
export function OperatorsView() {
  const { task } = template.value;
  const read = (file: File): void => void file.text().then((text) => open(text, true));
  useAddress("operators", begin);
  const tree = useReachable<HTMLElement>();
  const assembly = useReachable<HTMLElement>();
  const shown = useSignal<"step" | "run">("step");
  useOpener({ hint: "Drop the template to open it", ready: own.value.value !== undefined, onFile: read });
  return (
    <div class="loom">
      <h1 class="sr-only">Task templates decide what each step may see</h1>
      <div class="row source">
        <SamplePicker samples={SAMPLES} text={xml.value} onOpen={(text) => void open(text, false)} />
        <OpenFile label="Open a file…" id="template-file" about="Your task template as an XML file" view="operators" />
        <Segmented label="Mode" options={optionsOf({ compat: "Compat", strict: "Strict" })} {...bound(mode)} />
        <Check label="Exclusive" {...bound(exclusive)} />
        <span class="grow" />
        <Button label="Make defaults explicit" disabled={!task} onClick={() => task && own.edit(writeTask(task))} />
        <CopyAsCode code={codeOfOperators} />
        <OwnTools view="operators" own={own} />
        <CopyButton label="Copy XML" text={() => xml.value} />
      </div>
      <Panes
        class="of-operators"
        panes={{ source: "Template", operators: "Operators", result: "Assembly" }}
        turns={false}
      >
        <section class="pane source-pane" aria-label="Template">
          <Editor />
          <TemplateFindings />
        </section>
        <section class="pane operators-pane overflow-auto p-3 wrap-anywhere" aria-label="Operators" ref={tree}>
          <OperatorTree />
        </section>
        <section
          class="pane result-pane overflow-auto p-4 wrap-anywhere max-[1081px]:max-h-[36vh] max-two:max-h-none"
          id="result"
          tabIndex={-1}
          aria-label="Assembly"
          ref={assembly}
        >
          <Segmented
            class="mb-3 self-start"
            label="Assembly of"
            options={optionsOf({ step: "One step", run: "Whole task" })}
            {...bound(shown)}
          />
          {shown.value === "step" ? <Assembly /> : <RunPanel />}
        </section>
      </Panes>
    </div>
  );
}
