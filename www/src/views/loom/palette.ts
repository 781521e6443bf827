import { effect, signal } from "@preact/signals";
import { media } from "../../ui/media.js";
import { theme } from "../../shell/theme.js";

/** The colours of the drawing, as CSS values. */
const COLOURS = {
  surface: "var(--color-surface)",
  ink: "var(--color-ink)",
  ink2: "var(--color-ink-2)",
  line: "color-mix(in oklab, var(--color-line-strong) 65%, var(--color-surface))",
  accent: "var(--color-accent)",
  human: "var(--color-human)",
  "model-0": "var(--color-model-0)",
  "model-1": "var(--color-model-1)",
  "model-2": "var(--color-model-2)",
  "human-soft": "color-mix(in oklab, var(--color-human) 38%, var(--color-surface))",
  "model-0-soft": "color-mix(in oklab, var(--color-model-0) 38%, var(--color-surface))",
  "model-1-soft": "color-mix(in oklab, var(--color-model-1) 38%, var(--color-surface))",
  "model-2-soft": "color-mix(in oklab, var(--color-model-2) 38%, var(--color-surface))",
  kept: "var(--color-kept)",
  changed: "var(--color-cut)",
  cut: "var(--color-cut)",
  "cut-soft": "var(--color-cut-soft)",
  excluded: "var(--color-excluded)",
  skipped: "var(--color-skipped)",
  annotation: "var(--color-skipped)",
  context: "var(--color-context)",
  instruction: "var(--color-instruction)",
  version: "var(--color-version)",
  other: "color-mix(in oklab, var(--color-ink-3) 45%, var(--color-surface))",
} as const;

export type Palette = Record<keyof typeof COLOURS, string> & { font: string };

/** Resolves the colours and the font of labels, because a canvas takes no variables. */
function read(): Palette {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const style = getComputedStyle(probe);
  const found = Object.entries(COLOURS).map(([name, value]) => {
    probe.style.color = value;
    return [name, style.color];
  });
  const palette = { ...Object.fromEntries(found), font: style.fontFamily } as Palette;
  probe.remove();
  return palette;
}

export const palette = signal<Palette | undefined>(undefined);

const isDark = media("(prefers-color-scheme: dark)");

/** Reads the colours, and again when the theme changes; returns a function that stops it. */
export function keepPalette(): () => void {
  return effect(() => {
    void theme.value;
    void isDark.value;
    palette.value = read();
  });
}
