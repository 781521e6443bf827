import { useSignal } from "@preact/signals";
import { bound } from "../../ui/bound.js";
import { Check } from "../../ui/fields.js";
import { plural } from "../../ui/format.js";
import { JsonText } from "../../ui/json-view.js";
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
    <>
      <JsonText
        name="request"
        title={<>Request{call ? <code> {call}(request)</code> : null}</>}
        label="Copy request"
        text={JSON.stringify(shownRequest, null, 2)}
        copied={() => JSON.stringify(input, null, 2)}
      >
        <Check label="Unfold tree and media" {...bound(withTree)} />
      </JsonText>
      <JsonText
        name="result"
        title={call ? "Result" : "Error"}
        label={call ? "Copy result" : "Copy error"}
        text={JSON.stringify(result, null, 2)}
      />
    </>
  );
}
