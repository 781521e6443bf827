import { SelectField } from "../../ui/fields.js";
import { VocabularyLoading } from "../../ui/vocabulary-loading.js";
import { ENCODINGS, type PageEncoding } from "./settings.js";
import { setOrClear, settings } from "./state.js";

/** The tokenizer. An exact count needs a vocabulary; until it is loaded the estimate is used. */
export function TokenizerPicker() {
  const asked = settings.value.tokenizer;
  return (
    <>
      <SelectField<PageEncoding | "">
        label="Tokens"
        hint={asked ? undefined : "An exact count first loads a vocabulary of about a megabyte."}
        options={[
          { value: "", name: "Estimate (heuristic)" },
          ...ENCODINGS.map((value) => ({ value, name: `Exact: ${value}` })),
        ]}
        value={asked ?? ""}
        onValue={(value) => setOrClear("tokenizer", value === "" ? undefined : value)}
      />
      {asked ? <VocabularyLoading name={asked} /> : null}
    </>
  );
}
