import { useSignal } from "@preact/signals";
import { CopyButton } from "../../ui/copy-button.js";
import { plural } from "../../ui/format.js";
import { outcome, request } from "./state.js";

/** The request and the result as JSON. The tree is collapsed until opened; copying always includes it. */
export function RawJson() {
  const withTree = useSignal(false);
  const input = request.value;
  const made = outcome.value;
  if (!input || !made) return null;
  const { tree, media, ...rest } = input;
  const shownRequest = withTree.value
    ? input
    : { tree: `${plural(tree.nodes.length, "node")}, folded`, ...(media ? { media: "folded" } : {}), ...rest };
  const { kind, ...failure } = made;
  const result = made.kind === "error" ? failure : made.result;
  const call = kind === "error" ? undefined : kind === "dialogue" ? "assembleDialogue" : "assembleBuffer";
  return (
    <div class="raw">
      <section aria-labelledby="raw-request">
        <div class="raw-head">
          <h3 id="raw-request">Request{call ? <code> {call}(request)</code> : null}</h3>
          <label class="check">
            <input
              type="checkbox"
              checked={withTree.value}
              onChange={(event) => (withTree.value = event.currentTarget.checked)}
            />
            <span>Unfold tree and media</span>
          </label>
          <CopyButton label="Copy request" text={() => JSON.stringify(input, null, 2)} />
        </div>
        <pre tabIndex={0} aria-label="Request as JSON" data-json="request">
          {JSON.stringify(shownRequest, null, 2)}
        </pre>
      </section>
      <section aria-labelledby="raw-result">
        <div class="raw-head">
          <h3 id="raw-result">{made.kind === "error" ? "Error" : "Result"}</h3>
          <CopyButton
            label={made.kind === "error" ? "Copy error" : "Copy result"}
            text={() => JSON.stringify(result, null, 2)}
          />
        </div>
        <pre tabIndex={0} aria-label="Result as JSON" data-json="result">
          {JSON.stringify(result, null, 2)}
        </pre>
      </section>
    </div>
  );
}
