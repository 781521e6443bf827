import { useSignal, useSignalEffect } from "@preact/signals";
import { Button, SmallButton } from "../../ui/button.js";
import { Check, optionsOf, Segmented, SelectField } from "../../ui/fields.js";
import { useFirstOf } from "../../ui/first-of.js";
import { count, plural } from "../../ui/format.js";
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
import { Table } from "../../ui/table.js";
import { dollars, money, priceOf } from "./prices.js";
import { FormatPicker } from "./settings.js";
import { compared, pins, remote } from "./state.js";

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
    <div class="stack compare">
      <div class="row compare-tools">
        <Button label="Pin this result" icon="plus" onClick={pinResult} />
        <p class="hint">
          {many === 0
            ? "Pin it, then change the strategy, the limit, the model, the format or the text to see the differences."
            : `${plural(many, "result")} pinned, as long as this page is open.`}
          {unused > 0 ? ` ${count(unused)} of a large chat can be compared only while such a chat is open.` : null}
        </p>
        {many > 0 ? <SmallButton onClick={() => (pins.value = [])}>Unpin all</SmallButton> : null}
      </div>
      <div class="compare-fields">
        <Side side="left" label="Left" now={one} />
        <Side side="right" label="Right" now={other} />
        <FormatPicker />
      </div>
      {one && other ? <Facts one={one} other={other} /> : null}
      <div class="row compare-tools">
        <Segmented
          label="Compared content"
          options={optionsOf({ text: "Text", json: "JSON" })}
          value={asJson ? "json" : "text"}
          onValue={(value) => change({ asJson: value === "json" })}
        />
        <Check label="Only differences" value={onlyChanges} onValue={(value) => change({ onlyChanges: value })} />
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
    <SelectField
      label={label}
      options={candidates.value.map(({ id: value, name }) => ({ value, name }))}
      value={now?.id ?? ""}
      onValue={(value) => change({ [side]: value })}
    />
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
  const [left, right] = [facts(one), facts(other)];
  const names = Object.keys({ ...left, ...right });
  return (
    <Table class="compare-facts" columns={[<td />, ...names]}>
      {Object.entries({ left, right }).map(([side, values]) => (
        <tr key={side} data-facts={side}>
          <th scope="row">{side === "left" ? "Left" : "Right"}</th>
          {names.map((name) => (
            <td key={name} class={left[name] === right[name] ? undefined : "differs"}>
              {values[name] ?? "–"}
            </td>
          ))}
        </tr>
      ))}
    </Table>
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
  const { kind, left: before, right: after } = row;
  const block = before ?? after;
  return (
    <li class={`difference of-${kind}`} data-difference={kind}>
      <p class="difference-head">
        <strong>{block?.head}</strong> <span class="quiet-text">{WORDS[kind]}</span>
      </p>
      <SideText row={row} of="left" />
      <SideText row={row} of="right" />
    </li>
  );
}

function SideText({ row, of }: { row: Difference; of: "left" | "right" }) {
  const { kind, pieces, [of]: block } = row;
  const Mark = of === "left" ? "del" : "ins";
  return (
    <div class="difference-text" data-side={of}>
      {kind === of && block ? <Mark>{cut(block.text)}</Mark> : null}
      {kind === "same" && block ? cut(block.text) : null}
      {pieces
        ?.filter(({ side }) => side === of || side === "both")
        .map(({ text, side }, at) =>
          side === of ? <Mark key={at}>{cut(text)}</Mark> : <span key={at}>{short(text)}</span>,
        )}
    </div>
  );
}
