import { Button } from "../../ui/button.js";
import { Facts } from "../../ui/facts.js";
import { Field } from "../../ui/fields.js";
import { count } from "../../ui/format.js";
import { ENCODINGS, isEncoding } from "../../ui/vocabularies.js";
import { VocabularyLoading } from "../../ui/vocabulary-loading.js";
import { forgetVocabulary, ownVocabularies } from "./own-vocabularies.js";
import { DEFAULTS } from "./settings.js";
import { change, ESTIMATES, isOwnTokenizer, settings, settled, spans, total } from "./state.js";

const OF: Record<string, string> = {
  o200k_base: "GPT-4o and later",
  o200k_harmony: "gpt-oss",
  cl100k_base: "GPT-4, GPT-3.5",
  p50k_base: "Codex of 2021",
  p50k_edit: "edit models of 2022",
  r50k_base: "GPT-3",
  gpt2: "GPT-2",
  heuristic: "any model",
  claude: "Claude",
  "claude-3": "Claude 3",
  gemini: "Gemini",
};

/** The tokenizer of the text, and its key figures. */
export function TextHead() {
  const { tokenizer } = settings.value;
  return (
    <div class="stack border-b border-line px-4 py-3">
      <div class="row items-end gap-x-6 gap-y-3 [&>.field]:flex-[1_1_13rem]">
        <TokenizerPicker />
        <Figures />
      </div>
      {isEncoding(tokenizer) ? <VocabularyLoading name={tokenizer} /> : null}
    </div>
  );
}

/** The tokenizer. Each vocabulary is fetched when it is chosen; the user's come from files. */
function TokenizerPicker() {
  const { tokenizer } = settings.value;
  const mine = ownVocabularies.value;
  const isMine = isOwnTokenizer(tokenizer);
  const known = isMine || isEncoding(tokenizer) || ESTIMATES.includes(tokenizer);
  const option = (name: string) => (
    <option key={name} value={name} selected={name === tokenizer}>
      {OF[name] ? `${name} (${OF[name]})` : name}
    </option>
  );
  const remove = (): void => {
    void forgetVocabulary(tokenizer);
    change({ tokenizer: DEFAULTS.tokenizer });
  };
  return (
    <Field
      label="Tokenizer"
      hint={known ? undefined : `This browser does not have ${tokenizer}: open its tokenizer.json.`}
    >
      {({ id, describedBy }) => (
        <div class="flex gap-2">
          <select
            id={id}
            aria-describedby={describedBy}
            value={tokenizer}
            onChange={(event) => change({ tokenizer: event.currentTarget.value })}
          >
            <optgroup label="Exact">{ENCODINGS.map(option)}</optgroup>
            <optgroup label="Yours, from a tokenizer.json">
              {mine.length > 0 ? mine.map(({ name }) => option(name)) : <option disabled>open or drop one</option>}
            </optgroup>
            <optgroup label="Estimates">{ESTIMATES.map(option)}</optgroup>
            {known ? null : option(tokenizer)}
          </select>
          {isMine ? <Button label="Remove" icon="close" onClick={remove} /> : null}
        </div>
      )}
    </Field>
  );
}

/** Key figures of the text. */
function Figures() {
  const all = total.value;
  const characters = settled.value.length;
  const per = all === 0 ? "0" : new Intl.NumberFormat("en", { maximumFractionDigits: 2 }).format(characters / all);
  return (
    <Facts
      class="facts pb-0 [&_dd]:text-[1.1rem]/[1.2] [&_dd]:font-semibold"
      facts={[
        [spans.value || all === 0 ? "tokens" : "tokens, estimated", count(all), "total"],
        [characters === 1 ? "character" : "characters", count(characters), "characters"],
        ["characters a token", per, "each"],
      ]}
    />
  );
}
