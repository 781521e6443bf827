import { useSignal } from "@preact/signals";
import { NumberField } from "../../ui/fields.js";
import { count, plural, tokens } from "../../ui/format.js";
import { MessageText } from "../../ui/message.js";
import { Table } from "../../ui/table.js";
import { behind, SHORTEST, sums, turns, type Turn } from "./cache.js";
import { MissingPrice } from "./price-table.js";
import { dollars, money, priceOf, type Price } from "./prices.js";
import { change, modelName, settings, whole, type Fitted } from "./state.js";

/** The part of the prompt that stays the same from turn to turn, and its value. */
export function CachePanel({ now }: { now: Fitted }) {
  const found = turns.value;
  if ("problem" in found) {
    return (
      <p class="hint" role="alert">
        The turns cannot be computed: <MessageText text={found.problem} />.
      </p>
    );
  }
  const price = priceOf(modelName.value);
  return (
    <div class="stack cache">
      <Sums price={price} many={found.list.length} />
      <NumberField
        label="Cut step in tokens"
        hint="A cut that moves on each turn changes the prompt each time. In steps it stays in place for many turns (cutStep)."
        step={500}
        value={settings.value.step}
        onValue={(value) => change({ step: Math.max(0, Math.round(value)) })}
      />
      <Turns list={found.list} skipped={found.skipped} price={price} />
      <EditCost now={now} price={price} />
    </div>
  );
}

/** The cost of a turn if the provider caches the common prefix and writes the rest into the cache. */
const withCache = ({ total, cached }: Turn, price: Price): number =>
  dollars(cached, price.cached) + dollars(total - cached, price.write);

function Sums({ price, many }: { price: Price | undefined; many: number }) {
  const { total, cached, moved } = sums.value;
  const found = turns.value;
  const paid = price && "list" in found ? found.list.reduce((sum, turn) => sum + withCache(turn, price), 0) : undefined;
  return (
    <>
      <p class="row saved" role="status">
        <span data-turns={many}>{plural(many, "request")}</span>
        <strong data-cached={cached}>
          {total > 0 ? ((100 * cached) / total).toFixed(0) : 0} % of {tokens(total)} shared with the previous request
        </strong>
        {price && paid !== undefined ? (
          <span data-paid>
            {money(paid)} with a cache, {money(dollars(total, price.input))} without
          </span>
        ) : (
          <MissingPrice />
        )}
        {moved > 0 ? (
          <span class="warn" data-moved={moved}>
            earlier messages changed {plural(moved, "time")}
          </span>
        ) : null}
      </p>
      <p class="hint">
        Each answer was a request. Each request is fitted with the current settings and continues the previous one
        (previous). Providers cache prefixes of at least {count(SHORTEST)} tokens, some models only longer ones.
      </p>
    </>
  );
}

function Turns({ list, skipped, price }: { list: readonly Turn[]; skipped: number; price: Price | undefined }) {
  const most = Math.max(...list.map(({ total }) => total), 1);
  const percent = (part: number): string => `${(100 * part) / most}%`;
  return (
    <section class="turns" aria-labelledby="turns-title">
      <h3 id="turns-title">Turn by turn</h3>
      {skipped > 0 ? <p class="hint">The first {plural(skipped, "turn")} not shown.</p> : null}
      <Table
        label="Turns"
        columns={[
          "Messages",
          <th scope="col" class="turn-bar">
            <span class="swatch turn-cached" aria-hidden="true" /> cached{" "}
            <span class="swatch turn-new" aria-hidden="true" /> new
          </th>,
          { number: "Cached" },
          { number: "New" },
          "Breakpoint at the end",
        ]}
      >
        {list.map((turn, at) => (
          <tr key={turn.length} data-turn={turn.length} data-turn-cached={turn.cached} data-turn-total={turn.total}>
            <th scope="row">{count(turn.length)}</th>
            <td class="turn-bar" aria-hidden="true">
              <span class="turn-cached" style={{ inlineSize: percent(turn.cached) }} />
              <span class="turn-new" style={{ inlineSize: percent(turn.total - turn.cached) }} />
            </td>
            <td class="number">{count(turn.cached)}</td>
            <td class="number">{count(turn.total - turn.cached)}</td>
            <td>
              <Breakpoint turn={turn} next={list[at + 1]} price={price} />
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

/** Whether a cache breakpoint at the end of a turn pays: the next request reads it, or it does not. */
function Breakpoint({ turn, next, price }: { turn: Turn; next: Turn | undefined; price: Price | undefined }) {
  if (!next) return <span class="quiet-text">if the chat continues</span>;
  if (next.cached === 0) return <span class="warn">not read again</span>;
  const kept = Math.min(turn.total, next.cached);
  if (!price) return <span>pays: {tokens(kept)} read</span>;
  const extra = dollars(turn.total - turn.cached, price.write - price.input);
  const saved = dollars(kept, price.input - price.cached) - extra;
  return saved > 0 ? <span data-pays>pays: {money(saved)}</span> : <span class="warn">costs {money(-saved)} more</span>;
}

/** The cost of a change in the middle: everything after it is sent as new once. */
function EditCost({ now, price }: { now: Fitted; price: Price | undefined }) {
  const last = Math.max(now.rows.filter(({ kind }) => kind === "message").length - 1, 0);
  const chosen = useSignal<number | undefined>(undefined);
  const place = Math.min(chosen.value ?? now.firstChanged ?? Math.floor(last / 2), last);
  const { before, after } = behind(place);
  const once = price && dollars(after, price.write - price.cached);
  const saved = (whole.value ?? 0) - now.report.tokens.total;
  const each = price && dollars(saved, price.cached);
  return (
    <section class="edit-cost" aria-labelledby="edit-cost-title">
      <h3 id="edit-cost-title">Cost of a change in the middle</h3>
      <label class="slider">
        <span>At message</span>
        <input
          type="range"
          min={0}
          max={last}
          value={place}
          aria-valuetext={`Message ${place}`}
          onInput={(event) => (chosen.value = Number(event.currentTarget.value))}
        />
        <output>{place}</output>
      </label>
      <p data-edit-before={before} data-edit-after={after}>
        {tokens(before)} before it stay in the cache; {tokens(after)} after it are sent as new once
        {once === undefined ? "" : `, which costs ${money(once)} more than reading them from it`}.
      </p>
      {now.firstChanged !== undefined && saved > 0 ? (
        <p data-edit-pays>
          Your changes begin at message {now.firstChanged} and make each request {tokens(saved)} shorter
          {once !== undefined && each
            ? `, ${money(each)} each if cached: they pay off after ${plural(Math.ceil(dollars(behind(now.firstChanged).after, (price?.write ?? 0) - (price?.cached ?? 0)) / each), "request")}`
            : ""}
          .
        </p>
      ) : null}
    </section>
  );
}
