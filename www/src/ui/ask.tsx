import { signal } from "@preact/signals";
import { Button } from "./button.js";
import { Dialog } from "./dialog.js";

const question = signal<{ text: string; yes: string; answer: (yes: boolean) => void } | undefined>(undefined);

/** Asks before the user's document is replaced. */
export function ask(text: string, yes: string): Promise<boolean> {
  question.peek()?.answer(false);
  return new Promise((answer) => (question.value = { text, yes, answer }));
}

/** The dialog; rendered once on the page. */
export function AskDialog() {
  const now = question.value;
  if (!now) return null;
  return (
    <Dialog
      label={now.text}
      width="w-[26rem]"
      onClose={(value) => {
        question.value = undefined;
        now.answer(value === "yes");
      }}
      actions={
        <>
          <Button label="Keep mine" type="submit" />
          <Button label={now.yes} type="submit" value="yes" />
        </>
      }
    >
      <p>{now.text}</p>
    </Dialog>
  );
}
