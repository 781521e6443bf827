import { useSignal } from "@preact/signals";
import { NumberField } from "../../ui/fields.js";
import { count, plural, tokens } from "../../ui/format.js";
import { MessageText } from "../../ui/message.js";
import { Table } from "../../ui/table.js";
import { tokensAround, turns, type Turn } from "./cache.js";
import { MIN_CACHED_TOKENS } from "./parts.js";
import { MissingPrice } from "./price-table.js";
import { dollars, money, priceOf, type Price } from "./prices.js";
import { change, modelName, rows, settings, whole, type Fitted } from "./state.js";

/** The part of the prompt that stays the same from turn to turn, and its value. */
export function CachePanel({ now }: { now: Fitted }) {
  const found = turns.value;
  if (!found.ok) {
    return (
      <p class="hint" role="alert">
        The turns cannot be computed: <MessageText text={found.message} />.
      </p>
    );
  }
  const { list, skipped } = found.value;
  const price = priceOf(modelName.value);
  return (
    <div class="stack cache text-s">
      <Sums list={list} price={price} />
      <div class="max-w-136 [&_input]:w-32">
        <NumberField
          label="Cut step in tokens"
          hint="A cut that moves on each turn changes the prompt each time. In steps it stays in place for many turns (cutStep)."
          step={500}
          value={settings.value.step}
          onValue={(value) => change({ step: Math.max(0, Math.round(value)) })}
        />
      </div>
      <Turns list={list} skipped={skipped} price={price} />
      <EditCost now={now} price={price} />
    </div>
  );
}

/** The cost of a turn if the provider caches the common prefix and writes the rest into the cache. */
const withCache = ({ total, cached }: Turn, price: Price): number =>
  dollars(cached, price.cached) + dollars(total - cached, price.write);

function Sums({ list, price }: { list: readonly Turn[]; price: Price | undefined }) {
  const total = list.reduce((sum, turn) => sum + turn.total, 0);
  const cached = list.reduce((sum, turn) => sum + turn.cached, 0);
  const moved = list.filter((turn) => turn.moved).length;
  return (
    <>
      <p class="summary items-baseline text-s" role="status">
        <span data-turns={list.length}>{plural(list.length, "request")}</span>
        <strong data-cached={cached}>
          {total > 0 ? ((100 * cached) / total).toFixed(0) : 0} % of {tokens(total)} shared with the previous request
        </strong>
        {price ? (
          <span data-paid>
            {money(list.reduce((sum, turn) => sum + withCache(turn, price), 0))} with a cache,{" "}
            {money(dollars(total, price.input))} without
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
        (previous). Providers cache prefixes of at least {count(MIN_CACHED_TOKENS)} tokens, some models only longer
        ones.
      </p>
    </>
  );
}

function Turns({ list, skipped, price }: { list: readonly Turn[]; skipped: number; price: Price | undefined }) {
  const most = Math.max(...list.map(({ total }) => total), 1);
  const percent = (part: number): string => `${(100 * part) / most}%`;
  return (
    <section aria-labelledby="turns-title">
      <h3 id="turns-title">Turn by turn</h3>
      {skipped > 0 ? <p class="hint">The first {plural(skipped, "turn")} not shown.</p> : null}
      <Table
        class="dense whitespace-nowrap"
        label="Turns"
        columns={[
          "Messages",
          <th scope="col" class="w-2/5">
            <span class="swatch inline-block bg-kept" aria-hidden="true" /> cached{" "}
            <span class="swatch ml-1.5 inline-block bg-skipped" aria-hidden="true" /> new
          </th>,
          { number: "Cached" },
          { number: "New" },
          "Breakpoint at the end",
        ]}
      >
        {list.map((turn, at) => (
          <tr key={turn.length} data-turn={turn.length} data-turn-cached={turn.cached} data-turn-total={turn.total}>
            <th scope="row">{count(turn.length)}</th>
            <td class="min-w-28 align-middle" aria-hidden="true">
              <div class="flex h-[11px]">
                <span class="bg-kept" style={{ inlineSize: percent(turn.cached) }} />
                <span class="bg-skipped" style={{ inlineSize: percent(turn.total - turn.cached) }} />
              </div>
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
  if (!price) return <>pays: {tokens(kept)} read</>;
  const extra = dollars(turn.total - turn.cached, price.write - price.input);
  const saved = dollars(kept, price.input - price.cached) - extra;
  return saved > 0 ? <>pays: {money(saved)}</> : <span class="warn">costs {money(-saved)} more</span>;
}

/** The cost of a change in the middle: everything after it is sent as new once. */
function EditCost({ now, price }: { now: Fitted; price: Price | undefined }) {
  const { firstChanged, report } = now;
  const chosen = useSignal<number | undefined>(undefined);
  const last = Math.max(rows.value.filter(({ kind }) => kind === "message").length - 1, 0);
  const place = Math.min(chosen.value ?? firstChanged ?? Math.floor(last / 2), last);
  const { before, after } = tokensAround(place);
  const saved = (whole.value ?? 0) - report.tokens.total;
  const { cached: read = 0, write = 0 } = price ?? {};
  const each = dollars(saved, read);
  const resent = (from: number): number => dollars(tokensAround(from).after, write - read);
  return (
    <section class="grid gap-1.5" aria-labelledby="edit-cost-title">
      <h3 id="edit-cost-title">Cost of a change in the middle</h3>
      <label class="flex max-w-136 items-center gap-2.5">
        At message
        <input
          type="range"
          class="grow"
          min={0}
          max={last}
          value={place}
          aria-valuetext={`Message ${place}`}
          onInput={(event) => (chosen.value = event.currentTarget.valueAsNumber)}
        />
        <output>{place}</output>
      </label>
      <p data-edit-before={before} data-edit-after={after}>
        {tokens(before)} before it stay in the cache; {tokens(after)} after it are sent as new once
        {price ? `, which costs ${money(resent(place))} more than reading them from it` : ""}.
      </p>
      {firstChanged !== undefined && saved > 0 ? (
        <p data-edit-pays>
          Your changes begin at message {firstChanged} and make each request {tokens(saved)} shorter
          {each > 0
            ? `, ${money(each)} each if cached: they pay off after ${plural(Math.ceil(resent(firstChanged) / each), "request")}`
            : ""}
          .
        </p>
      ) : null}
    </section>
  );
}
