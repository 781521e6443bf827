import { CopyButton } from "../../ui/copy-button.js";
import { ProblemPanel } from "../../ui/failed.js";
import { Check, InputField, NumberField, optionsOf, Segmented, SelectField, SliderField } from "../../ui/fields.js";
import { Tabs } from "../../ui/tabs.js";
import { BOUNDARIES, SIDES, type Shown } from "./settings.js";
import { cut, limit, piece, pieces, setting, settings, spans, summary, total } from "./state.js";
import { HEAT_COLOURS, SearchText, TokenText } from "./text.js";

/** The text with its tokens, or the result of a cut or a split. */
export function Result() {
  const { shown } = settings.value;
  const failed = [cut.value, pieces.value].find((result) => result?.ok === false);
  return (
    <section class="pane result-pane" id="result" tabIndex={-1} aria-label="Tokens of the text">
      <Tabs<Shown> label="Result" tabs={{ tokens: "Tokens", cut: "Cut", split: "Split" }} {...setting("shown")}>
        <div class="tokens-controls row items-end gap-x-4 gap-y-2 border-b border-line px-4 py-3">
          {shown === "tokens" ? <TokensControls /> : shown === "cut" ? <CutControls /> : <SplitControls />}
          <p class="quiet-text basis-full text-s empty:hidden" role="status">
            {summary.value}
          </p>
        </div>
        {failed?.ok === false ? (
          <ProblemPanel class="p-4" code={failed.code} message={failed.message} />
        ) : (
          <>
            <SearchText />
            <TokenText />
          </>
        )}
      </Tabs>
    </section>
  );
}

function TokensControls() {
  const exact = spans.value;
  return (
    <>
      <Segmented label="Colours" options={optionsOf({ tokens: "Tokens", heat: "Heat" })} {...setting("colours")} />
      {settings.value.colours === "heat" ? <HeatLegend /> : null}
      <Check class="py-1.5" label="Numbers" {...setting("ids")} />
      {exact ? (
        <CopyButton label="Copy numbers" text={() => JSON.stringify([...exact.ids])} />
      ) : (
        <p class="hint py-2">Estimates have no tokens: choose an exact tokenizer.</p>
      )}
    </>
  );
}

/** The meaning of the heat colours. */
function HeatLegend() {
  return (
    <p class="hint row gap-1.5 py-2">
      4 characters a token
      {HEAT_COLOURS.map((colour) => (
        <span key={colour} class={`swatch ${colour || "free"}`} aria-hidden="true" />
      ))}
      less than 1
    </p>
  );
}

/** A maximum of tokens, with its default. */
function Limit({ label, name, value }: { label: string; name: "limit" | "piece"; value: number }) {
  const { value: set, onValue } = setting(name);
  return (
    <SliderField
      label={label}
      value={value}
      onValue={onValue}
      origin={set === undefined ? "default" : "set"}
      onReset={() => onValue(undefined)}
      max={Math.max(total.value, 1)}
    />
  );
}

const Boundary = () => <SelectField label="Where to cut" options={optionsOf(BOUNDARIES)} {...setting("boundary")} />;

function CutControls() {
  const left = cut.value;
  return (
    <>
      <Limit label="Tokens to keep" name="limit" value={limit.value} />
      <SelectField label="Remove" options={optionsOf(SIDES)} {...setting("side")} />
      <Boundary />
      <InputField label="Marker" placeholder="none" {...setting("marker")} />
      {left?.ok ? <CopyButton label="Copy result" text={() => left.value.text} /> : null}
    </>
  );
}

function SplitControls() {
  const parts = pieces.value;
  const texts = (): string[] => (parts?.ok ? parts.value.map(({ text }) => text) : []);
  return (
    <>
      <Limit label="Tokens per piece" name="piece" value={piece.value} />
      <NumberField label="Overlap" {...setting("overlap")} />
      <Boundary />
      <Check class="py-1.5" label="Markdown" {...setting("markdown")} />
      {parts?.ok ? <CopyButton label="Copy pieces" text={() => JSON.stringify(texts(), null, 2)} /> : null}
    </>
  );
}
