import type { ComponentChildren } from "preact";

/** Describes the open document, or whether one is loading. */
export function WhatIsOpen({ failed, children }: { failed: boolean; children?: ComponentChildren }) {
  return <p class="about">{children ?? (failed ? "No document is open." : "Loading…")}</p>;
}
