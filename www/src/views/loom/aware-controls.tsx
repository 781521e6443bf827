import type { LoomTreeData } from "ctxweave/loom";
import { SmallButton } from "../../ui/button.js";
import { Check, InputField, optionsOf, SelectField } from "../../ui/fields.js";
import { ADDITIONS, freshAware, MEMORY, sampleMemory, type AwareSettings } from "./aware.js";
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
      {aware && mode === "dialogue" ? <Additions aware={aware} tree={tree} /> : null}
    </fieldset>
  );
}

function Additions({ aware, tree }: { aware: AwareSettings; tree: LoomTreeData }) {
  const set = (fields: Partial<AwareSettings>): void => setOrClear("aware", { ...aware, ...fields });
  return (
    <>
      {optionsOf(ADDITIONS).map(({ value: key, name }) => (
        <Check key={key} label={name} value={aware[key]} onValue={(checked) => set({ [key]: checked })} />
      ))}
      <InputField
        label="Now"
        hint="Reference time for ages; without it headers have no ages."
        placeholder="2026-03-01T12:00:00Z"
        value={aware.now}
        onValue={(now) => set({ now })}
      />
      <SelectField
        label="Pinned node"
        options={[{ value: "", name: "None" }, ...pinnable(tree, aware.pin)]}
        value={aware.pin}
        onValue={(pin) => set({ pin })}
      />
      {optionsOf(MEMORY).map(({ value: key, name }) => (
        <InputField
          key={key}
          label={name}
          rows={2}
          placeholder="None"
          value={aware[key]}
          onValue={(text) => set({ [key]: text })}
        />
      ))}
      <SmallButton onClick={() => set(sampleMemory(tree))}>Fill with a sample</SmallButton>
    </>
  );
}

const MAX_LISTED_NODES = 60;

/** The first nodes of the tree, and the pinned one. */
function pinnable(tree: LoomTreeData, pin: string): { value: string; name: string }[] {
  const ids = tree.nodes.slice(0, MAX_LISTED_NODES).map((node) => node.id);
  if (pin !== "" && !ids.includes(pin)) ids.unshift(pin);
  return ids.map((id) => {
    const node = index.value?.node.get(id);
    return { value: id, name: `${nodeName(node, id)}: ${snippet(node, 40)}` };
  });
}
