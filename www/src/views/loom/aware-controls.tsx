import type { LoomTreeData } from "ctxweave/loom";
import { Field, Select } from "../../ui/fields.js";
import { freshAware, sampleMemory, type AwareSettings } from "./aware.js";
import { index, setOrClear, settings } from "./state.js";
import { nodeName, snippet } from "./tree-index.js";

/** The additions for a loom-aware agent. */
export function AwareControls({ tree }: { tree: LoomTreeData }) {
  const { aware, mode } = settings.value;
  return (
    <fieldset>
      <legend>Loom-aware</legend>
      <label class="check">
        <input
          type="checkbox"
          checked={aware !== undefined}
          onChange={(event) => setOrClear("aware", event.currentTarget.checked ? freshAware(tree) : undefined)}
        />
        <span>The agent knows the tree</span>
      </label>
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

function Parts({ aware, tree }: { aware: AwareSettings; tree: LoomTreeData }) {
  const set = (fields: Partial<AwareSettings>): void => setOrClear("aware", { ...aware, ...fields });
  return (
    <>
      {PARTS.map(([part, name]) => (
        <label key={part} class="check">
          <input
            type="checkbox"
            checked={aware[part]}
            onChange={(event) => set({ [part]: event.currentTarget.checked })}
          />
          <span>{name}</span>
        </label>
      ))}
      <Field label="Now" hint="Reference time for ages; without it headers have no ages.">
        {({ id, describedBy }) => (
          <input
            type="text"
            id={id}
            aria-describedby={describedBy}
            placeholder="2026-03-01T12:00:00Z"
            value={aware.now}
            onInput={(event) => set({ now: event.currentTarget.value })}
          />
        )}
      </Field>
      <PinnedNode aware={aware} tree={tree} onPin={(pin) => set({ pin })} />
      <Lines label="Pinned text" value={aware.note} onValue={(note) => set({ note })} />
      <Lines label="Recalled stash" value={aware.stash} onValue={(stash) => set({ stash })} />
      <Lines label="Recent actions" value={aware.trace} onValue={(trace) => set({ trace })} />
      <button type="button" class="small" onClick={() => set(sampleMemory(tree))}>
        Fill with a sample
      </button>
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
    <Field label="Pinned node">
      {({ id }) => (
        <Select<string>
          id={id}
          options={[{ value: "", name: "None" }, ...ids.map((node) => ({ value: node, name: name(node) }))]}
          value={pin}
          onValue={props.onPin}
        />
      )}
    </Field>
  );
}

function Lines(props: { label: string; value: string; onValue: (value: string) => void }) {
  return (
    <Field label={props.label}>
      {({ id }) => (
        <textarea
          id={id}
          rows={2}
          placeholder="None"
          value={props.value}
          onInput={(event) => props.onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
