import { useSignal, useSignalEffect } from "@preact/signals";
import { Field, Segmented, Select } from "../../ui/fields.js";
import { useFirstOf } from "../../ui/first-of.js";
import { count, plural } from "../../ui/format.js";
import { Icon } from "../../ui/icons.js";
import {
  candidates,
  change,
  comparison,
  cut,
  left,
  loadDiff,
  pinResult,
  right,
  short,
  type Difference,
  type Row,
  type Snapshot,
} from "./compare.js";
import { dollars, money, priceOf } from "./prices.js";
import { FormatPicker } from "./settings.js";
import { compared, pins, remote } from "./state.js";
import "../../styles/compare.css";

/** Number of differences shown at first. */
const MAX_SHOWN_ROWS = 200;

/** Two results next to each other, with the differences marked in the text. */
export function ComparePanel() {
  const problem = useSignal<string | undefined>(undefined);
  useSignalEffect(() => {
    // Large chats are compared in their worker.
    if (!remote.isUsed.value) loadDiff().catch((error: unknown) => (problem.value = (error as Error).message));
  });
  const [one, other] = [left.value, right.value];
  const { asJson, onlyChanges } = compared.value;
  const many = pins.value.length;
  const unused = remote.isUsed.value ? 0 : pins.value.filter(({ request }) => request === undefined).length;
  const found = comparison.found.value;
  return (
    <div class="compare">
      <div class="compare-tools">
        <button type="button" class="quiet" onClick={pinResult}>
          <Icon name="plus" />
          Pin this result
        </button>
        <p class="hint">
          {many === 0
            ? "Pin it, then change the strategy, the limit, the model, the format or the text to see the differences."
            : `${plural(many, "result")} pinned, as long as this page is open.`}
          {unused > 0 ? ` ${count(unused)} of a large chat can be compared only while such a chat is open.` : null}
        </p>
        {many > 0 ? (
          <button type="button" class="small" onClick={() => (pins.value = [])}>
            Unpin all
          </button>
        ) : null}
      </div>
      <div class="compare-fields">
        <Side side="left" label="Left" now={one} />
        <Side side="right" label="Right" now={other} />
        <FormatPicker />
      </div>
      {one && other ? <Facts one={one} other={other} /> : null}
      <div class="compare-tools">
        <Segmented
          label="Compared content"
          options={[
            { value: "text", name: "Text" },
            { value: "json", name: "JSON" },
          ]}
          value={asJson ? "json" : "text"}
          onValue={(value) => change({ asJson: value === "json" })}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={onlyChanges}
            onChange={(event) => change({ onlyChanges: event.currentTarget.checked })}
          />
          Only differences
        </label>
        <p class="summary" role="status" data-differences>
          {found === undefined
            ? (problem.value ?? "Comparing…")
            : `${count(found.many.changed)} changed, ${count(found.many.left)} only left, ${count(found.many.right)} only right, ${count(found.many.same)} the same`}
        </p>
      </div>
      <Rows rows={found?.rows ?? []} />
    </div>
  );
}

function Side({ side, label, now }: { side: "left" | "right"; label: string; now: Snapshot | undefined }) {
  return (
    <Field label={label}>
      {({ id }) => (
        <Select
          id={id}
          options={candidates.value.map(({ id: value, name }) => ({ value, name }))}
          value={now?.id ?? ""}
          onValue={(value) => change({ [side]: value })}
        />
      )}
    </Field>
  );
}

/** The costs of both, and the fates of their messages. */
function Facts({ one, other }: { one: Snapshot; other: Snapshot }) {
  const facts = ({ tokens, fates, model }: Snapshot): Record<string, string> => {
    const price = priceOf(model);
    return {
      Tokens: count(tokens),
      ...(price ? { Cost: money(dollars(tokens, price.input)) } : {}),
      Kept: count(fates.kept),
      Changed: count(fates.changed),
      Cut: count(fates.cut),
    };
  };
  const [a, b] = [facts(one), facts(other)];
  return (
    <table class="compare-facts">
      <thead>
        <tr>
          <td />
          {Object.keys({ ...a, ...b }).map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {(
          [
            ["left", a],
            ["right", b],
          ] as const
        ).map(([side, values]) => (
          <tr key={side} data-facts={side}>
            <th scope="row">{side === "left" ? "Left" : "Right"}</th>
            {Object.keys({ ...a, ...b }).map((name) => (
              <td key={name} class={a[name] === b[name] ? undefined : "differs"}>
                {values[name] ?? "–"}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Rows({ rows }: { rows: readonly Row[] }) {
  const { shown, more } = useFirstOf(rows, MAX_SHOWN_ROWS);
  return (
    <>
      <ol class="differences" aria-label="Differences">
        {shown.map(({ at, row, same }) =>
          row ? (
            <DifferenceRow key={at} row={row} />
          ) : (
            <li key={at} class="same-run" data-same={same}>
              {plural(same ?? 0, "part")} the same
            </li>
          ),
        )}
      </ol>
      {more}
    </>
  );
}

const WORDS = { same: "The same", left: "Only left", right: "Only right", changed: "Changed" };

function DifferenceRow({ row }: { row: Difference }) {
  const { kind, left: before, right: after, pieces } = row;
  const block = before ?? after;
  return (
    <li class={`difference of-${kind}`} data-difference={kind}>
      <p class="difference-head">
        <strong>{block?.head}</strong> <span class="quiet-text">{WORDS[kind]}</span>
      </p>
      <div class="difference-text" data-side="left">
        {kind === "left" && before ? <del>{cut(before.text)}</del> : null}
        {kind === "same" && before ? cut(before.text) : null}
        {pieces?.map(({ text, side }, at) =>
          side === "right" ? null : side === "left" ? (
            <del key={at}>{cut(text)}</del>
          ) : (
            <span key={at}>{short(text)}</span>
          ),
        )}
      </div>
      <div class="difference-text" data-side="right">
        {kind === "right" && after ? <ins>{cut(after.text)}</ins> : null}
        {kind === "same" && after ? cut(after.text) : null}
        {pieces?.map(({ text, side }, at) =>
          side === "left" ? null : side === "right" ? (
            <ins key={at}>{cut(text)}</ins>
          ) : (
            <span key={at}>{short(text)}</span>
          ),
        )}
      </div>
    </li>
  );
}
