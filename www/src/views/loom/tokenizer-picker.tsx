import { Field, Select } from "../../ui/fields.js";
import { MessageText } from "../../ui/message.js";
import { ENCODINGS, type PageEncoding } from "./settings.js";
import { setOrClear, settings } from "./state.js";
import { loadVocabulary, vocabularyState } from "./vocabulary.js";

/** How tokens are counted. An exact count needs a vocabulary; until it is there the estimate stands in. */
export function TokenizerPicker() {
  const asked = settings.value.tokenizer;
  return (
    <>
      <Field label="Tokens" hint={asked ? undefined : "An exact count first loads a vocabulary of about a megabyte."}>
        {({ id, describedBy }) => (
          <Select<PageEncoding | "">
            id={id}
            describedBy={describedBy}
            options={[
              { value: "", name: "Estimate (heuristic)" },
              ...ENCODINGS.map((value) => ({ value, name: `Exact: ${value}` })),
            ]}
            value={asked ?? ""}
            onValue={(value) => setOrClear("tokenizer", value === "" ? undefined : value)}
          />
        )}
      </Field>
      {asked ? <Loading name={asked} /> : null}
    </>
  );
}

function Loading({ name }: { name: PageEncoding }) {
  const state = vocabularyState(name);
  switch (state?.kind) {
    case "loading": {
      const { loaded, total } = state;
      return (
        <div class="vocabulary" role="status">
          {/* Without a total, as when the server compresses, the bar only says that something is under way. */}
          <progress aria-label={`Loading ${name}`} max={total ?? 1} {...(total ? { value: loaded } : {})} />
          <p class="hint">
            Loading {name}
            {loaded > 0 ? <span aria-hidden="true">: {megabytes(loaded, total)}</span> : null}
          </p>
        </div>
      );
    }
    case "failed":
      return (
        <div class="vocabulary failed" role="alert">
          <p>
            <strong>{name} could not be loaded</strong>: <MessageText text={state.message} />. The counts stay
            estimates.
          </p>
          <button type="button" class="small" onClick={() => void loadVocabulary(name)}>
            Try again
          </button>
        </div>
      );
    default:
      return null;
  }
}

function megabytes(loaded: number, total: number | undefined): string {
  const shown = (bytes: number): string => (bytes / 1e6).toFixed(1);
  return total ? `${shown(loaded)} of ${shown(total)} MB` : `${shown(loaded)} MB`;
}
