import { Button, SmallButton } from "../../ui/button.js";
import { Check, optionsOf, Segmented, SelectField } from "../../ui/fields.js";
import { useFirstOf } from "../../ui/first-of.js";
import { count, plural } from "../../ui/format.js";
import { Table } from "../../ui/table.js";
import { useLoaded } from "../../ui/use-loaded.js";
import {
  candidates,
  change,
  comparison,
  left,
  loadDiff,
  pinResult,
  right,
  type Difference,
  type Piece,
  type Row,
  type Snapshot,
} from "./compare.js";
import { dollars, money, priceOf } from "./prices.js";
import { FormatPicker } from "./settings.js";
import { compared, pins, remote } from "./state.js";

/** Number of differences shown at first. */
const MAX_SHOWN_ROWS = 200;

const SIDES = { left: "Left", right: "Right" };
type Side = keyof typeof SIDES;

/** Two results next to each other, with the differences marked in the text. */
export function ComparePanel() {
  // Large chats are compared in their worker.
  const isRemote = remote.isUsed.value;
  const { problem } = useLoaded(() => (isRemote ? undefined : loadDiff()), [isRemote]);
  const sides = { left: left.value, right: right.value };
  const { asJson, onlyChanges } = compared.value;
  const many = pins.value.length;
  const unused = isRemote ? 0 : pins.value.filter(({ request }) => request === undefined).length;
  const found = comparison.value;
  return (
    <div class="stack compare">
      <div class="row gap-x-3.5 gap-y-1.5">
        <Button label="Pin this result" icon="plus" onClick={pinResult} />
        <p class="hint">
          {many === 0
            ? "Pin it, then change the strategy, the limit, the model, the format or the text to see the differences."
            : `${plural(many, "result")} pinned, as long as this page is open.`}
          {unused > 0 ? ` ${count(unused)} of a large chat can be compared only while such a chat is open.` : null}
        </p>
        {many > 0 ? <SmallButton onClick={() => (pins.value = [])}>Unpin all</SmallButton> : null}
      </div>
      <div class="grid grid-cols-3 gap-3 max-two:grid-cols-1">
        {optionsOf(SIDES).map(({ value: side, name: label }) => (
          <SelectField
            key={side}
            label={label}
            options={candidates.value.map(({ id: value, name }) => ({ value, name }))}
            value={sides[side]?.id ?? ""}
            onValue={(id) => change({ [side]: id })}
          />
        ))}
        <FormatPicker />
      </div>
      {sides.left && sides.right ? <Facts left={sides.left} right={sides.right} /> : null}
      <div class="row gap-x-3.5 gap-y-1.5">
        <Segmented
          label="Compared content"
          options={optionsOf({ text: "Text", json: "JSON" })}
          value={asJson ? "json" : "text"}
          onValue={(value) => change({ asJson: value === "json" })}
        />
        <Check label="Only differences" value={onlyChanges} onValue={(value) => change({ onlyChanges: value })} />
        <p class="summary" role="status" data-differences>
          {found === undefined
            ? (problem ?? "Comparing…")
            : `${count(found.many.changed)} changed, ${count(found.many.left)} only left, ${count(found.many.right)} only right, ${count(found.many.same)} the same`}
        </p>
      </div>
      <Rows rows={found?.rows ?? []} />
    </div>
  );
}

/** The costs of both, and the fates of their messages. */
function Facts({ left: one, right: other }: Record<Side, Snapshot>) {
  const facts = { left: factsOf(one), right: factsOf(other) };
  const names = Object.keys({ ...facts.left, ...facts.right });
  return (
    <Table class="dense tabular-nums" columns={[<td />, ...names]}>
      {optionsOf(SIDES).map(({ value: side, name: label }) => (
        <tr key={side} data-facts={side}>
          <th scope="row">{label}</th>
          {names.map((name) => (
            <td key={name} class={facts.left[name] === facts.right[name] ? undefined : "font-semibold"}>
              {facts[side][name] ?? "–"}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

function factsOf({ tokens, fates, model }: Snapshot): Record<string, string> {
  const price = priceOf(model);
  return {
    Tokens: count(tokens),
    ...(price ? { Cost: money(dollars(tokens, price.input)) } : {}),
    Kept: count(fates.kept),
    Changed: count(fates.changed),
    Cut: count(fates.cut),
  };
}

function Rows({ rows }: { rows: readonly Row[] }) {
  const { shown, more } = useFirstOf(rows, MAX_SHOWN_ROWS);
  return (
    <>
      <ol class="grid gap-2" aria-label="Differences">
        {shown.map(({ at, row, same = 0 }) =>
          row ? (
            <DifferenceRow key={at} row={row} />
          ) : (
            <li key={at} class="hint border-l-3 border-line px-2.5" data-same={same}>
              {plural(same, "part")} the same
            </li>
          ),
        )}
      </ol>
      {more}
    </>
  );
}

const WORDS = { same: "The same", left: "Only left", right: "Only right", changed: "Changed" };

function DifferenceRow({ row: { kind, head, pieces } }: { row: Difference }) {
  return (
    <li
      class="grid grid-cols-2 gap-px overflow-hidden rounded-s border border-line bg-line max-two:grid-cols-1"
      data-difference={kind}
    >
      <p class="row col-span-full gap-2.5 bg-sunken px-2.5 py-1 text-xs">
        <strong>{head}</strong> <span class="quiet-text">{WORDS[kind]}</span>
      </p>
      <SideText pieces={pieces} of="left" />
      <SideText pieces={pieces} of="right" />
    </li>
  );
}

function SideText({ pieces, of }: { pieces: readonly Piece[]; of: Side }) {
  const Mark = of === "left" ? "del" : "ins";
  const look = of === "left" ? "bg-cut-soft text-cut" : "bg-kept-soft text-kept";
  return (
    <div class="bg-surface px-2.5 py-1.5 text-s wrap-anywhere whitespace-pre-wrap max-two:empty:hidden" data-side={of}>
      {pieces
        .filter(({ side }) => side === of || side === "both")
        .map(({ text, side }, at) => (
          <span key={at}>{side === of ? <Mark class={look}>{text}</Mark> : text}</span>
        ))}
    </div>
  );
}
