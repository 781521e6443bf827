import { useEffect, useState } from "preact/hooks";
import { Button } from "./button.js";
import type { IconName } from "./icons.js";

/** A message that temporarily replaces the label of a button. */
export function useSaid(milliseconds: number): [said: string, say: (text: string) => void] {
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => setSaid(""), milliseconds);
    return () => clearTimeout(timer);
  }, [said]);
  return [said, setSaid];
}

/** Copies a text that is created on demand, and announces it, also to screen readers. */
export function CopyButton({ text, label, icon = "copy" }: { text: () => string; label: string; icon?: IconName }) {
  const [said, setSaid] = useSaid(2000);
  const copy = (): void => {
    navigator.clipboard.writeText(text()).then(
      () => setSaid("Copied"),
      () => setSaid("Copying was refused"),
    );
  };
  return (
    <>
      <Button label={said || label} icon={said === "Copied" ? "check" : icon} onClick={copy} />
      <span class="sr-only" role="status">
        {said}
      </span>
    </>
  );
}
