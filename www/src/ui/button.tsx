import type { ComponentProps } from "preact";
import { useRef } from "preact/hooks";
import { Icon, type IconName } from "./icons.js";

type Props = ComponentProps<"button">;

/** A button with words, its label or its content, and an icon before them. */
export function Button({ icon, label, children = label, ...rest }: Props & { icon?: IconName; label?: string }) {
  return (
    <button type="button" class="quiet" {...rest}>
      {icon ? <Icon name={icon} /> : null}
      {children}
    </button>
  );
}

/** The same next to a text or in a list. */
export const SmallButton = (props: Props & { label?: string }) => <Button class="small" {...props} />;

/** A button with an icon alone. */
export function IconButton({ icon, label, ...rest }: Props & { icon: IconName; label: string }) {
  return (
    <button type="button" aria-label={label} {...rest}>
      <Icon name={icon} />
    </button>
  );
}

/** A button that opens files from the disk. `onPick` may choose them in another way than with the file input. */
export function FilesButton(props: {
  label: string;
  /** Description of the files for screen readers. */
  about: string;
  /** Id of the file input. */
  id?: string;
  /** Whether the input chooses a folder. */
  isFolder?: boolean;
  onPick?: (input: HTMLInputElement) => void;
  onFiles: (files: [File, ...File[]]) => void;
}) {
  const { label, about, id, isFolder = false, onPick = (input) => input.click(), onFiles } = props;
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button label={label} icon="file" onClick={() => input.current && onPick(input.current)} />
      <input
        ref={input}
        type="file"
        multiple
        {...(isFolder ? { webkitdirectory: true, "data-folder-input": true } : { id })}
        class="sr-only"
        aria-label={about}
        tabIndex={-1}
        onChange={({ currentTarget }) => {
          const [first, ...others] = currentTarget.files ?? [];
          if (first) onFiles([first, ...others]);
          currentTarget.value = "";
        }}
      />
    </>
  );
}
