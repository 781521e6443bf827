import type { ComponentChildren } from "preact";

/** Says what is open in a view, and as long as nothing is whether something comes. */
export function WhatIsOpen({ failed, children }: { failed: boolean; children?: ComponentChildren }) {
  return <p class="about">{children ?? (failed ? "Nothing is open." : "Loading…")}</p>;
}
