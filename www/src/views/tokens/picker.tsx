import { Button } from "../../ui/button.js";
import { Field } from "../../ui/fields.js";
import { ENCODINGS, isEncoding } from "../../ui/vocabularies.js";
import { VocabularyLoading } from "../../ui/vocabulary-loading.js";
import { forgetVocabulary, ownVocabularies } from "./own-vocabularies.js";
import { DEFAULTS } from "./settings.js";
import { change, ESTIMATES, settings } from "./state.js";

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

/** The tokenizer. Each vocabulary is fetched when it is chosen; the user's come from files. */
export function TokenizerPicker() {
  const { tokenizer } = settings.value;
  const mine = ownVocabularies.value;
  const isMine = mine.some(({ name }) => name === tokenizer);
  const known = isMine || isEncoding(tokenizer) || ESTIMATES.includes(tokenizer);
  const option = (name: string) => (
    <option key={name} value={name} selected={name === tokenizer}>
      {OF[name] ? `${name} (${OF[name]})` : name}
    </option>
  );
  return (
    <>
      <Field
        label="Tokenizer"
        hint={known ? undefined : `This browser does not have ${tokenizer}: open its tokenizer.json.`}
      >
        {({ id, describedBy }) => (
          <div class="tokenizer-choice">
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
            {isMine ? (
              <Button
                label="Remove"
                icon="close"
                onClick={() => {
                  void forgetVocabulary(tokenizer);
                  change({ tokenizer: DEFAULTS.tokenizer });
                }}
              />
            ) : null}
          </div>
        )}
      </Field>
      {isEncoding(tokenizer) ? <VocabularyLoading name={tokenizer} /> : null}
    </>
  );
}
