import { modelInfo, type ChatFormat } from "ctxweave/chat";
import { SmallButton } from "../../ui/button.js";
import { Check, Field, optionsOf, SelectField, SliderField } from "../../ui/fields.js";
import { count } from "../../ui/format.js";
import { MessageText } from "../../ui/message.js";
import { loadVocabulary, vocabularyState } from "../../ui/vocabularies.js";
import { isExact, MODEL_NAMES, MODELS, windowOf, type KnownModel } from "./models.js";
import { modelOf } from "./request.js";
import { change, counted, limit, model, settings, whole } from "./state.js";
import { FORMATS, STRATEGIES } from "./words.js";

const KEPT_RESULTS = [
  { value: "all", name: "Stay" },
  { value: "0", name: "Clear any" },
  ...["1", "2", "3", "5", "10"].map((value) => ({ value, name: `Clear all but ${value}` })),
];

/** The target model, the limit, and what to cut first. */
export function Settings() {
  const { limit: chosen, strategy, results, always } = settings.value;
  return (
    <div class="grid grid-cols-2 items-start gap-x-4 gap-y-2 border-b border-line px-4 py-3 max-[480px]:grid-cols-1">
      <ModelPicker />
      <SliderField
        label="Limit in tokens"
        origin={chosen === undefined ? "default" : "set"}
        onReset={() => change({ limit: undefined })}
        max={Math.max(whole.value ?? limit.value, 1)}
        value={limit.value}
        onValue={(value) => change({ limit: value })}
      />
      <SelectField
        label="Strategy"
        options={optionsOf(STRATEGIES)}
        value={strategy}
        onValue={(value) => change({ strategy: value })}
      />
      <div>
        <SelectField
          label="Old tool results"
          options={KEPT_RESULTS}
          value={KEPT_RESULTS.find(({ value }) => value === String(results))?.value ?? "all"}
          onValue={(value) => change({ results: value === "all" ? value : Number(value) })}
        />
        {results === "all" ? null : (
          <Check
            class="mt-1"
            label="Even under the limit"
            value={always}
            onValue={(value) => change({ always: value })}
          />
        )}
      </div>
    </div>
  );
}

/** The format that the result is written in. */
export function FormatPicker() {
  return (
    <SelectField<ChatFormat | "">
      label="Result as"
      options={[{ value: "", name: "Same as the request" }, ...FORMATS]}
      value={settings.value.as ?? ""}
      onValue={(value) => change({ as: value === "" ? undefined : value })}
    />
  );
}

/** The model: its window, and its tokenizer. */
function ModelPicker() {
  const now = counted.value;
  const named = now.ok ? modelOf(now.value.request) : undefined;
  const { model: asked } = settings.value;
  return (
    <Field
      label="Model"
      origin={asked === undefined ? "default" : "set"}
      onReset={() => change({ model: undefined })}
      hint={<ModelHint known={model.value} named={asked ?? named} />}
    >
      {({ id, describedBy }) => (
        <select
          id={id}
          aria-describedby={describedBy}
          value={asked ?? named ?? ""}
          onChange={(event) => change({ model: event.currentTarget.value, limit: undefined })}
        >
          <option value="">None</option>
          {named === undefined || MODEL_NAMES.includes(named) ? null : <option value={named}>{named}</option>}
          {Object.entries(MODELS).map(([vendor, names]) => (
            <optgroup key={vendor} label={vendor}>
              {names.map((name) => (
                <ModelOption key={name} name={name} />
              ))}
            </optgroup>
          ))}
        </select>
      )}
    </Field>
  );
}

function ModelOption({ name }: { name: string }) {
  const info = modelInfo(name);
  return <option value={name}>{info ? `${name} (${windowOf(info)})` : name}</option>;
}

function ModelHint({ known, named }: { known: KnownModel | undefined; named: string | undefined }) {
  if (!known) {
    return named ? (
      <span data-counts="unknown">
        <code>{named}</code> is unknown; choose a similar model.
      </span>
    ) : (
      <span data-counts="estimate">Counts are estimates.</span>
    );
  }
  return (
    <span data-counts={isExact(known) ? "exact" : "estimate"}>
      Window {windowOf(known)}, at most {count(known.limit)} of input. <Counts known={known} />
    </span>
  );
}

function Counts({ known: { vocabulary } }: { known: KnownModel }) {
  if (vocabulary === undefined) {
    const now = counted.value;
    const error = now.ok ? now.value.report.tokens.tokenizerError : undefined;
    return (
      <>Counts are estimates{error === undefined ? "" : `, up to ${error} % off`}: the vendor publishes no tokenizer.</>
    );
  }
  const state = vocabularyState(vocabulary);
  if (state?.kind === "loaded") return <>Counts are exact ({vocabulary}).</>;
  if (state?.kind !== "failed") return <>Estimates until {vocabulary} is loaded…</>;
  return (
    <>
      Estimates: {vocabulary} could not be loaded (<MessageText text={state.message} />
      ). <SmallButton onClick={() => void loadVocabulary(vocabulary)}>Try again</SmallButton>
    </>
  );
}
