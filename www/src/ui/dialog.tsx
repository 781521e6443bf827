import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/**
 * A modal dialog, open as long as it is rendered. Its submit buttons close it; `onClose` receives the value of the
 * pressed one.
 */
export function Dialog(props: {
  label: string;
  width: string;
  onClose: (value: string) => void;
  children: ComponentChildren;
  actions: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      class={`${props.width} max-w-[calc(100vw-32px)] rounded-[14px] border border-line bg-surface px-6 py-5 text-ink`}
      aria-label={props.label}
      onClose={(event) => props.onClose(event.currentTarget.returnValue)}
    >
      {props.children}
      <form method="dialog" class="row mt-4 justify-end gap-2.5">
        {props.actions}
      </form>
    </dialog>
  );
}
