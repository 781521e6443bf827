import type { ContextAssembly } from "ctxweave/operators";

/** A text of the task that may be long. */
export const TEXT = "max-h-72 overflow-auto rounded-s bg-sunken px-3 py-2 whitespace-pre-wrap wrap-anywhere";

/** A text that a step sees, or makes. */
export function Seen(props: { name: string; label: string; text: string; part?: string; colour?: string }) {
  const { name, label, text, part, colour = "ink-2" } = props;
  return (
    <figure class="grid gap-0.5" style={`--seen: var(--color-${colour})`}>
      <figcaption class="text-(--seen)">{name}</figcaption>
      <pre class={`border-l-3 border-(--seen) ${TEXT}`} tabIndex={0} aria-label={label} data-part={part}>
        {text}
      </pre>
    </figure>
  );
}

/** The parts of a context. */
export const CONTEXT_PARTS = [
  { part: "inherited", name: "Inherited", colour: "human" },
  { part: "accumulated", name: "Accumulated", colour: "model-0" },
  { part: "fresh", name: "Fresh", colour: "kept" },
] as const;

/** What a step sees, part by part. */
export function SeenContext({ context, step }: { context: ContextAssembly; step?: string }) {
  return CONTEXT_PARTS.map(({ part, name, colour }) => {
    const text = context[part];
    if (text === undefined) return null;
    const label = step ? `${name}, ${step}` : name;
    return <Seen key={part} part={part} name={name} label={label} text={text} colour={colour} />;
  });
}
