import { useEffect } from "preact/hooks";
import { connect } from "../../ui/connect.js";
import { CopyAsCode } from "../../ui/copy-as-code.js";
import { useOpener, usePrepared } from "../../ui/drop.js";
import { ProblemNotice } from "../../ui/notice.js";
import { OpenFile } from "../../ui/open-file.js";
import { OwnTools } from "../../ui/own-tools.js";
import { Panes } from "../../ui/panes.js";
import { SamplePicker } from "../../ui/sample-picker.js";
import { TextField } from "../../ui/text-parts.js";
import { useAddress } from "../../ui/use-address.js";
import { codeOfTokens } from "./code.js";
import { TextHead } from "./text-head.js";
import { Result } from "./result.js";
import { SAMPLES } from "./samples.js";
import { begin, busy, follow, open, openFile, own, part, problem, remote, text } from "./state.js";

remote.start = () => connect(() => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }));

/** A text on one side, its tokens on the other: their boundaries and ids, and the result of a cut or a split. */
export function TokensView() {
  useAddress("tokens", begin);
  // Runs once the address is read, without waiting for everything to load: settings made meanwhile are in the address,
  // which may be read again.
  useEffect(follow, []);
  const ready = own.value.value !== undefined;
  usePrepared(remote);
  useOpener({ hint: "Drop a text, or a model's tokenizer.json", ready, onFile: (file) => void openFile(file) });
  return (
    <div class="loom tokens-view">
      <h1 class="sr-only">A text and its tokens</h1>
      <div class="row source">
        <SamplePicker samples={SAMPLES} text={text.value} onOpen={(content) => void open(content, false)} />
        <OpenFile label="Open a file…" id="text-file" about="A text, or the tokenizer.json of a model" view="tokens" />
        <p class="about">{busy.value || "Write or paste any text. Nothing leaves this page."}</p>
        <CopyAsCode code={codeOfTokens} />
        <OwnTools view="tokens" own={own} />
        {problem.value ? <ProblemNotice problem={problem.value} onDismiss={() => (problem.value = undefined)} /> : null}
      </div>
      <Panes class="of-files" panes={{ edit: "Text", result: "Tokens" }}>
        <section class="pane edit-pane" aria-label="Text">
          <TextHead />
          <TextField
            label="Text"
            placeholder="Any text"
            text={text.value}
            part={part}
            onText={(next) => own.edit(next)}
          />
        </section>
        <Result />
      </Panes>
    </div>
  );
}
