import type { LoomTreeData } from "ctxweave/loom";
import { SmallButton } from "../../ui/button.js";
import { Check, InputField, SelectField } from "../../ui/fields.js";
import { freshAware, sampleMemory, type AwareSettings } from "./aware.js";
import { index, setOrClear, settings } from "./state.js";
import { nodeName, snippet } from "./tree-index.js";

/** The additions for a loom-aware agent. */
export function AwareControls({ tree }: { tree: LoomTreeData }) {
  const { aware, mode } = settings.value;
  return (
    <fieldset>
      <legend>Loom-aware</legend>
      <Check
        label="The agent knows the tree"
        value={aware !== undefined}
        onValue={(checked) => setOrClear("aware", checked ? freshAware(tree) : undefined)}
      />
      {aware && mode === "buffer" ? <p class="hint">For dialogues only: a document is one continuous text.</p> : null}
      {aware && mode === "dialogue" ? <Parts aware={aware} tree={tree} /> : null}
    </fieldset>
  );
}

const PARTS = [
  ["addendum", "Addendum to the system prompt"],
  ["headers", "Header on each message"],
  ["loomBlock", "Loom block at the end"],
] as const;

const TEXTS = [
  ["note", "Pinned text"],
  ["stash", "Recalled stash"],
  ["trace", "Recent actions"],
] as const;

function Parts({ aware, tree }: { aware: AwareSettings; tree: LoomTreeData }) {
  const set = (fields: Partial<AwareSettings>): void => setOrClear("aware", { ...aware, ...fields });
  return (
    <>
      {PARTS.map(([part, name]) => (
        <Check key={part} label={name} value={aware[part]} onValue={(checked) => set({ [part]: checked })} />
      ))}
      <InputField
        label="Now"
        hint="Reference time for ages; without it headers have no ages."
        placeholder="2026-03-01T12:00:00Z"
        value={aware.now}
        onValue={(now) => set({ now })}
      />
      <PinnedNode aware={aware} tree={tree} onPin={(pin) => set({ pin })} />
      {TEXTS.map(([text, name]) => (
        <InputField
          key={text}
          label={name}
          rows={2}
          placeholder="None"
          value={aware[text]}
          onValue={(value) => set({ [text]: value })}
        />
      ))}
      <SmallButton onClick={() => set(sampleMemory(tree))}>Fill with a sample</SmallButton>
    </>
  );
}

/** Maximum number of nodes in the list of nodes to pin. */
const PINNABLE = 60;

function PinnedNode(props: { aware: AwareSettings; tree: LoomTreeData; onPin: (id: string) => void }) {
  const { pin } = props.aware;
  const nodes = index.value?.node;
  const ids = props.tree.nodes.slice(0, PINNABLE).map((node) => node.id);
  if (pin !== "" && !ids.includes(pin)) ids.unshift(pin);
  const name = (id: string): string => `${nodeName(nodes?.get(id), id)}: ${snippet(nodes?.get(id), 40)}`;
  return (
    <SelectField
      label="Pinned node"
      options={[{ value: "", name: "None" }, ...ids.map((node) => ({ value: node, name: name(node) }))]}
      value={pin}
      onValue={props.onPin}
    />
  );
}
