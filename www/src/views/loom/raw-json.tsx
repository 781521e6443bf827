import { useSignal } from "@preact/signals";
import { bound } from "../../ui/bound.js";
import { Check } from "../../ui/fields.js";
import { plural } from "../../ui/format.js";
import { JsonText } from "../../ui/json-view.js";
import { outcome, request } from "./state.js";

const CALLS = {
  error: null,
  dialogue: <code> assembleDialogue(request)</code>,
  buffer: <code> assembleBuffer(request)</code>,
};

/** The request and the result as JSON. The tree is collapsed until opened; copying always includes it. */
export function RawJson() {
  const withTree = useSignal(false);
  const input = request.value;
  const made = outcome.value;
  if (!input || !made) return null;
  const folded = { tree: `${plural(input.tree.nodes.length, "node")}, folded`, media: input.media && "folded" };
  const { kind, ...failure } = made;
  const title = kind === "error" ? "Error" : "Result";
  return (
    <>
      <JsonText
        name="request"
        title={<>Request{CALLS[kind]}</>}
        label="Copy request"
        text={JSON.stringify(withTree.value ? input : { ...input, ...folded }, null, 2)}
        copied={() => JSON.stringify(input, null, 2)}
      >
        <Check label="Unfold tree and media" {...bound(withTree)} />
      </JsonText>
      <JsonText
        name="result"
        title={title}
        label={`Copy ${title.toLowerCase()}`}
        text={JSON.stringify(made.kind === "error" ? failure : made.result, null, 2)}
      />
    </>
  );
}
