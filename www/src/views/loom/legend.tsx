import { useLayoutEffect, useRef } from "preact/hooks";
import type { Author } from "./authors.js";
import { paintFate, paintLink, paintMark, PLAIN } from "./paint-mark.js";
import { palette, type Palette } from "./palette.js";
import { index } from "./state.js";

type Paint = (context: CanvasRenderingContext2D, colours: Palette) => void;

const AUTHORS: readonly Author[] = ["model-0", "model-1", "model-2"];
const FATES = { kept: "kept", cut: "cut or changed", excluded: "excluded", skipped: "skipped" } as const;
const KINDS = ["annotation", "context", "instruction", "version"] as const;
const HUMAN = { ...PLAIN, author: "human" } as const;

/** The meaning of the marks in the drawing. */
export function Legend() {
  const agents = index.value?.agents ?? [];
  const models = agents.length > 0 ? agents.slice(0, 3) : ["model"];
  const samples: { name: string; paint: Paint }[] = [
    { name: "human", paint: (context, colours) => paintMark(context, colours, HUMAN, 0, 0) },
    ...models.map((model, place) => ({
      name: place === 2 && agents.length > 3 ? `${model} and others` : model,
      paint: ((context, colours) =>
        paintMark(context, colours, { ...PLAIN, author: AUTHORS[place] ?? "model-2" }, 0, 0)) as Paint,
    })),
    ...(Object.keys(FATES) as (keyof typeof FATES)[]).map((fate) => ({
      name: FATES[fate] as string,
      paint: ((context, colours) => paintFate(context, colours, HUMAN, fate, 0, 0)) as Paint,
    })),
    {
      name: "edit of another",
      paint: (context, colours) => paintMark(context, colours, { ...HUMAN, edit: true }, 0, 0),
    },
    {
      name: "marked excluded",
      paint: (context, colours) => paintMark(context, colours, { ...HUMAN, excluded: true }, 0, 0),
    },
    { name: "pruned", paint: (context, colours) => paintMark(context, colours, { ...HUMAN, pruned: true }, 0, 0) },
    ...KINDS.map((kind) => ({
      name: kind === "version" ? "another version" : (kind as string),
      paint: ((context, colours) => paintLink(context, colours, kind, true, 1, SLOPE)) as Paint,
    })),
  ];
  return (
    <details class="legend">
      <summary>Legend</summary>
      <ul>
        {samples.map(({ name, paint }) => (
          <li key={name}>
            <Sample paint={paint} />
            {name}
          </li>
        ))}
      </ul>
    </details>
  );
}

const SIDE = 22;
const SLOPE = new Path2D("M-10,5C-3,5 3,-5 10,-5");

function Sample({ paint }: { paint: Paint }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const colours = palette.value;
  useLayoutEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context || !colours) return;
    const ratio = devicePixelRatio || 1;
    element.width = element.height = SIDE * ratio;
    context.setTransform(ratio, 0, 0, ratio, (SIDE / 2) * ratio, (SIDE / 2) * ratio);
    paint(context, colours);
  });
  return <canvas ref={canvas} aria-hidden="true" />;
}
