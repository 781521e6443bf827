import { Button } from "../../ui/button.js";
import { Facts } from "../../ui/facts.js";
import { count, plural, tokens } from "../../ui/format.js";
import { money, priceOf } from "./prices.js";
import { costOf, costOfAll, costOfAnswer, costWithoutCache, isCompacted, sumsOf, type OpenTurns } from "./session.js";
import { editTurn, model, showTurn } from "./state.js";

/** The requests of a session: their tokens and costs, and a slider that chooses the one whose contents are shown. */
export function SessionPanel({ open }: { open: OpenTurns }) {
  const { turns, turn, name } = open;
  const now = turns[turn];
  if (!now) return <p class="empty">{name} has no answer of a model.</p>;
  const price = priceOf(model.value?.name);
  const sums = sumsOf(turns);
  const compactions = turns.filter((_, at) => isCompacted(turns, at)).length;
  const place = isCompacted(turns, turn) ? ", the first after a compaction" : "";
  return (
    <section class="stack session-turns overflow-y-auto p-4" aria-labelledby="session-title">
      <h2 id="session-title" class="wrap-anywhere">
        {name}
      </h2>
      <label class="flex items-center gap-2.5 text-s">
        Request
        <input
          type="range"
          class="grow"
          min={0}
          max={turns.length - 1}
          value={turn}
          aria-label="Request of the session"
          aria-valuetext={`${turn + 1} of ${turns.length}, ${tokens(now.tokens)}${place}`}
          onInput={(event) => showTurn(event.currentTarget.valueAsNumber)}
        />
        <output data-turn>
          {count(turn + 1)} of {count(turns.length)}
        </output>
      </label>
      <Bars open={open} />
      <Facts
        class="facts grid grid-cols-[repeat(auto-fill,minmax(11rem,1fr))]"
        facts={[
          ["This request", figure(now.tokens, price && money(costOf(now, price))), "tokens"],
          ["Read from the cache, estimated", tokens(now.cached), "cached"],
          ["Its answer", figure(now.answer, price?.output && money(costOfAnswer(now, price))), "answer"],
          [
            `All ${plural(turns.length, "request")}`,
            figure(sums.tokens, price && money(costOfAll(turns, price))),
            "all",
          ],
          [
            "Read from the cache, estimated",
            figure(sums.cached, price && `${money(costWithoutCache(sums, price))} without a cache`),
            "all-cached",
          ],
          ["Compactions", count(compactions), "compactions"],
        ]}
      />
      <p class="hint">
        {price
          ? `${price.output === undefined ? "Input" : "Input and answers"} at the price of ${model.value?.name}; choose another model above.`
          : "Choose a model to see the cost."}{" "}
        The session does not contain the agent’s system prompt and tools, so that real requests are larger.
      </p>
      <Button onClick={editTurn}>Edit this request as a chat</Button>
    </section>
  );
}

const figure = (many: number, cost: string | 0 | undefined) => (
  <>
    {tokens(many)}
    {cost ? <span class="quiet-text block">{cost}</span> : null}
  </>
);

/** Most bars that are drawn; of longer sessions each is the largest of several requests. */
const MAX_BARS = 240;

/** The size of each request, with its cached part, and the compactions. For the pointer; keyboard users have the slider. */
function Bars({ open: { turns, turn } }: { open: OpenTurns }) {
  const each = Math.ceil(turns.length / MAX_BARS);
  const most = Math.max(...turns.map(({ tokens: all }) => all), 1);
  const bars = Array.from({ length: Math.ceil(turns.length / each) }, (_, bar) => {
    const from = bar * each;
    const group = turns.slice(from, from + each);
    const largest = group.reduce((one, other) => (other.tokens > one.tokens ? other : one));
    return { from, to: from + group.length, largest, compacted: group.some((_, at) => isCompacted(turns, from + at)) };
  });
  return (
    <div class="flex h-28 gap-px border-b border-line" aria-hidden="true">
      {bars.map(({ from, to, largest, compacted }) => (
        <div
          key={from}
          class="session-bar flex max-w-10 min-w-px flex-1 cursor-pointer flex-col justify-end data-chosen:outline-2 data-chosen:outline-accent"
          data-compacted={compacted ? "" : undefined}
          data-chosen={turn >= from && turn < to ? "" : undefined}
          title={`Request ${from + 1}: ${tokens(largest.tokens)}${compacted ? ", after a compaction" : ""}`}
          onClick={() => showTurn(from)}
        >
          <span class="bg-skipped" style={{ blockSize: `${(100 * (largest.tokens - largest.cached)) / most}%` }} />
          <span class="bg-kept" style={{ blockSize: `${(100 * largest.cached) / most}%` }} />
        </div>
      ))}
    </div>
  );
}
