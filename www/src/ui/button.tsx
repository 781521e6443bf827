import type { ComponentProps } from "preact";
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
