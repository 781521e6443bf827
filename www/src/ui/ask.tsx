import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "./button.js";

const question = signal<{ text: string; yes: string; answer: (yes: boolean) => void } | undefined>(undefined);

/** Asks before the user's document is replaced. */
export function ask(text: string, yes: string): Promise<boolean> {
  question.peek()?.answer(false);
  return new Promise((answer) => (question.value = { text, yes, answer }));
}

/** The dialog; rendered once on the page. */
export function AskDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const now = question.value;
  useEffect(() => {
    if (now) dialog.current?.showModal();
  }, [now]);
  if (!now) return null;
  const answer = (yes: boolean): void => {
    question.value = undefined;
    now.answer(yes);
  };
  return (
    <dialog ref={dialog} class="ask" aria-labelledby="ask-text" onClose={() => answer(false)}>
      <p id="ask-text">{now.text}</p>
      <div class="ask-answers">
        <Button onClick={() => answer(false)}>Keep mine</Button>
        <Button label={now.yes} class="quiet strong" onClick={() => answer(true)} />
      </div>
    </dialog>
  );
}
