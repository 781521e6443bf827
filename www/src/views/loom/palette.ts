import { effect, signal } from "@preact/signals";
import { theme } from "../../shell/theme.js";

/** The colours of the drawing, as CSS values. */
const COLOURS = {
  surface: "var(--surface)",
  ink: "var(--ink)",
  ink2: "var(--ink-2)",
  line: "color-mix(in oklab, var(--line-strong) 65%, var(--surface))",
  accent: "var(--accent)",
  human: "var(--human)",
  "model-0": "var(--model-0)",
  "model-1": "var(--model-1)",
  "model-2": "var(--model-2)",
  "human-soft": "color-mix(in oklab, var(--human) 38%, var(--surface))",
  "model-0-soft": "color-mix(in oklab, var(--model-0) 38%, var(--surface))",
  "model-1-soft": "color-mix(in oklab, var(--model-1) 38%, var(--surface))",
  "model-2-soft": "color-mix(in oklab, var(--model-2) 38%, var(--surface))",
  kept: "var(--kept)",
  changed: "var(--cut)",
  cut: "var(--cut)",
  "cut-soft": "var(--cut-soft)",
  excluded: "var(--excluded)",
  skipped: "var(--skipped)",
  annotation: "var(--skipped)",
  context: "var(--context)",
  instruction: "var(--instruction)",
  version: "var(--version)",
  other: "color-mix(in oklab, var(--ink-3) 45%, var(--surface))",
} as const;

export type Colour = keyof typeof COLOURS;
export type Palette = Record<Colour, string> & { font: string };

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

/** Reads the colours, and again when the theme changes; returns a function that stops it. */
export function keepPalette(): () => void {
  const again = (): void => {
    palette.value = read();
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", again);
  const stop = effect(() => {
    void theme.value;
    again();
  });
  return () => {
    dark.removeEventListener("change", again);
    stop();
  };
}
