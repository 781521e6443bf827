import { Check, InputField, NumberField, optionsOf, Segmented, SelectField, SliderField } from "../../ui/fields.js";
import { CopyButton } from "../../ui/copy-button.js";
import { MessageText } from "../../ui/message.js";
import { Tabs } from "../../ui/tabs.js";
import { BOUNDARIES, SIDES, type Shown } from "./settings.js";
import { change, cut, limit, piece, pieces, settings, spans, summary, total } from "./state.js";
import { SearchText, TokenText } from "./text.js";

const TABS = { tokens: "Tokens", cut: "Cut", split: "Split" };

/** The text with its tokens, or the result of a cut or a split. */
export function Result() {
  const { shown } = settings.value;
  const failed = shown === "cut" ? cut.value : shown === "split" ? pieces.value : undefined;
  return (
    <section class="pane result-pane" id="result" tabIndex={-1} aria-label="Tokens of the text">
      <Tabs<Shown> label="Result" tabs={TABS} value={shown} onValue={(id) => change({ shown: id })}>
        <div class="tokens-controls">
          {shown === "tokens" ? <TokensControls /> : shown === "cut" ? <CutControls /> : <SplitControls />}
          <p class="quiet-text" role="status">
            {summary.value}
          </p>
        </div>
        {failed?.ok === false ? (
          <div class="notice problem" role="alert">
            <p>
              <MessageText text={failed.message} sentence /> <code data-error-code>{failed.code}</code>
            </p>
          </div>
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

const COLOURS = optionsOf({ tokens: "Tokens", heat: "Heat" });

function TokensControls() {
  const { colours, ids } = settings.value;
  const exact = spans.value;
  return (
    <>
      <Segmented label="Colours" options={COLOURS} value={colours} onValue={(value) => change({ colours: value })} />
      {colours === "heat" ? <HeatLegend /> : null}
      <Check label="Numbers" value={ids} onValue={(value) => change({ ids: value })} />
      {exact ? (
        <CopyButton label="Copy numbers" text={() => JSON.stringify([...exact.ids])} />
      ) : (
        <p class="hint">Estimates have no tokens: choose an exact tokenizer.</p>
      )}
    </>
  );
}

/** The meaning of the heat colours. */
function HeatLegend() {
  return (
    <p class="heat-legend">
      <span class="hint">4 characters a token</span>
      {[0, 1, 2, 3, 4].map((level) => (
        <span key={level} class={`swatch heat-${level}`} aria-hidden="true" />
      ))}
      <span class="hint">less than 1</span>
    </p>
  );
}

function Limit(props: { label: string; value: number; set: boolean; onValue: (value: number | undefined) => void }) {
  const { set, ...rest } = props;
  const onReset = (): void => props.onValue(undefined);
  return <SliderField {...rest} origin={set ? "set" : "default"} onReset={onReset} max={Math.max(total.value, 1)} />;
}

function Boundary() {
  return (
    <SelectField
      label="Where to cut"
      options={optionsOf(BOUNDARIES)}
      value={settings.value.boundary ?? ""}
      onValue={(value) => change({ boundary: value || undefined })}
    />
  );
}

function CutControls() {
  const { side, marker, limit: set } = settings.value;
  const left = cut.value;
  return (
    <>
      <Limit
        label="Tokens to keep"
        value={limit.value}
        set={set !== undefined}
        onValue={(value) => change({ limit: value })}
      />
      <SelectField
        label="Remove"
        options={optionsOf(SIDES)}
        value={side}
        onValue={(value) => change({ side: value })}
      />
      <Boundary />
      <InputField label="Marker" placeholder="none" value={marker} onValue={(text) => change({ marker: text })} />
      {left?.ok ? <CopyButton label="Copy result" text={() => left.value.text} /> : null}
    </>
  );
}

function SplitControls() {
  const { overlap, markdown, piece: set } = settings.value;
  const parts = pieces.value;
  return (
    <>
      <Limit
        label="Tokens per piece"
        value={piece.value}
        set={set !== undefined}
        onValue={(value) => change({ piece: value })}
      />
      <NumberField label="Overlap" value={overlap} onValue={(value) => change({ overlap: value })} />
      <Boundary />
      <Check label="Markdown" value={markdown} onValue={(value) => change({ markdown: value })} />
      {parts?.ok ? (
        <CopyButton
          label="Copy pieces"
          text={() =>
            JSON.stringify(
              parts.value.map(({ text }) => text),
              null,
              2,
            )
          }
        />
      ) : null}
    </>
  );
}
