import { CopyAsCode } from "../../ui/copy-as-code.js";
import { useOpener } from "../../ui/drop.js";
import { plural } from "../../ui/format.js";
import { Segmented } from "../../ui/fields.js";
import { ProblemNotice } from "../../ui/notice.js";
import { OpenFile } from "../../ui/open-file.js";
import { OwnTools } from "../../ui/own-tools.js";
import { WhatIsOpen } from "../../ui/what-is-open.js";
import { codeOfLoom } from "./code.js";
import { SAMPLES } from "./samples.js";
import { content, lookAgain, open, own, openFile, opening, openProblem, openSample } from "./state.js";

/** The open tree, and ways to open another. */
export function SourceBar() {
  const at = open.value;
  useOpener({ hint: "Drop the file to open it", ready: at !== undefined, onFile: (file) => void openFile(file) });
  const options: { value: string; name: string }[] = SAMPLES.map(({ id, name }) => ({ value: id, name }));
  if (at?.source === "file") options.push({ value: "file", name: at.name });
  const sample = SAMPLES.find((s) => s.id === at?.source);
  return (
    <div class="row source" aria-busy={opening.value !== undefined}>
      <Segmented
        label="Tree"
        options={options}
        value={opening.value ?? at?.source ?? ""}
        onValue={(value) => {
          const chosen = SAMPLES.find(({ id }) => id === value);
          if (chosen) void openSample(chosen);
        }}
      />
      <OpenFile label="Open a file…" id="tree-file" about="Your tree as a JSON file" view="loom" />
      <WhatIsOpen failed={openProblem.value !== undefined}>
        {at ? (
          <>
            <strong>{at.tree.title ?? at.name}</strong>
            <span>
              {" "}
              {plural(at.tree.nodes.length, "node")}, {plural(at.tree.edges.length, "edge")}
              {sample ? ` · ${sample.about}` : ""}
            </span>
          </>
        ) : undefined}
      </WhatIsOpen>
      <CopyAsCode code={codeOfLoom} />
      <OwnTools view="loom" own={own} content={content} onUndo={lookAgain} />
      {openProblem.value ? (
        <ProblemNotice problem={openProblem.value} onDismiss={() => (openProblem.value = undefined)} />
      ) : null}
    </div>
  );
}
