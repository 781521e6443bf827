import type { Encoding } from "ctxweave/tokens";
import { decimal } from "./format.js";
import { MessageText } from "./message.js";
import { loadVocabulary, vocabularyState } from "./vocabularies.js";

/** How far a vocabulary has come, as long as that is worth saying. */
export function VocabularyLoading({ name }: { name: Encoding }) {
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
  const shown = (bytes: number): string => decimal(bytes / 1e6);
  return total ? `${shown(loaded)} of ${shown(total)} MB` : `${shown(loaded)} MB`;
}
