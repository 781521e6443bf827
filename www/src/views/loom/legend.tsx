import { useLayoutEffect, useRef } from "preact/hooks";
import { optionsOf } from "../../ui/fields.js";
import { MODELS } from "./authors.js";
import { contextOf, paintFate, paintLink, paintMark, type Look } from "./paint-mark.js";
import { palette, type Palette } from "./palette.js";
import { index } from "./state.js";

type Paint = (context: CanvasRenderingContext2D, colours: Palette) => void;

const FATES = optionsOf({ kept: "kept", cut: "cut or changed", excluded: "excluded", skipped: "skipped" });
const KINDS = optionsOf({
  annotation: "annotation",
  context: "context",
  instruction: "instruction",
  version: "another version",
});
const HUMAN: Look = { author: "human" };
const SIDE = 22;
const SLOPE = new Path2D("M-10,5C-3,5 3,-5 10,-5");

const mark =
  (look: Look): Paint =>
  (context, colours) =>
    paintMark(context, colours, look);

/** The meaning of the marks in the drawing. */
export function Legend() {
  const agents = index.value?.agents ?? [];
  const models = agents.length > 3 ? agents.with(2, `${agents[2]} and others`) : agents;
  const samples: [name: string, paint: Paint][] = [
    ["human", mark(HUMAN)],
    ...MODELS.slice(0, models.length || 1).map((author, at): [string, Paint] => [
      models[at] ?? "model",
      mark({ author }),
    ]),
    ...FATES.map(({ value, name }): [string, Paint] => [name, (...on) => paintFate(...on, HUMAN, value)]),
    ["edit of another", mark({ ...HUMAN, edit: true })],
    ["marked excluded", mark({ ...HUMAN, excluded: true })],
    ["pruned", mark({ ...HUMAN, pruned: true })],
    ...KINDS.map(({ value, name }): [string, Paint] => [name, (...on) => paintLink(...on, value, true, 1, SLOPE)]),
  ];
  return (
    <details class="shrink-0 border-t border-line text-xs text-ink-2">
      <summary class="px-4 py-1.5 text-ink-3">Legend</summary>
      <ul class="grid grid-cols-[repeat(auto-fill,minmax(118px,1fr))] gap-x-2 gap-y-0.5 px-4 pb-2.5">
        {samples.map(([name, paint]) => (
          <li key={name} class="flex items-center gap-1.5">
            <Sample paint={paint} />
            {name}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Sample({ paint }: { paint: Paint }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const colours = palette.value;
  useLayoutEffect(() => {
    if (!canvas.current || !colours) return;
    const context = contextOf(canvas.current, SIDE, SIDE);
    context.translate(SIDE / 2, SIDE / 2);
    paint(context, colours);
  });
  return <canvas ref={canvas} class="size-5.5 shrink-0" aria-hidden="true" />;
}
