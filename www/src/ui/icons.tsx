import PATHS from "./icons.json";

export type IconName = keyof typeof PATHS;

/**
 * A line icon on a grid of 16 pixels, drawn for this page. It is decoration: its meaning is always given in words as
 * well.
 */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
