import type { Encoding } from "ctxweave/tokens";
import { SmallButton } from "./button.js";
import { decimal } from "./format.js";
import { MessageText } from "./message.js";
import { loadVocabulary, vocabularyState } from "./vocabularies.js";

/** Progress of a vocabulary, while it is loading or failed. */
export function VocabularyLoading({ name }: { name: Encoding }) {
  const state = vocabularyState(name);
  if (state?.kind === "failed") {
    return (
      <div class="vocabulary notice stack justify-items-start gap-1.5 text-xs" role="alert">
        <p>
          <strong>{name} could not be loaded</strong>: <MessageText text={state.message} />. Counts remain estimates.
        </p>
        <SmallButton onClick={() => void loadVocabulary(name)}>Try again</SmallButton>
      </div>
    );
  }
  if (state?.kind !== "loading") return null;
  const { loaded, total } = state;
  return (
    <div class="vocabulary stack gap-1.5" role="status">
      {/* Without a total, as when the server compresses, the bar is indeterminate. */}
      <progress
        class="h-1.5 w-full accent-accent"
        aria-label={`Loading ${name}`}
        max={total ?? 1}
        {...(total ? { value: loaded } : {})}
      />
      <p class="hint">
        Loading {name}
        {loaded > 0 ? <span aria-hidden="true">: {megabytes(loaded, total)}</span> : null}
      </p>
    </div>
  );
}

function megabytes(loaded: number, total: number | undefined): string {
  const shown = (bytes: number): string => decimal(bytes / 1e6);
  return total ? `${shown(loaded)} of ${shown(total)} MB` : `${shown(loaded)} MB`;
}
