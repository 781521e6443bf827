import type { ContextAssembly } from "ctxweave/operators";

/** A text that a step sees, or makes. */
export function Seen(props: { name: string; label: string; text: string; kind?: string }) {
  const { name, label, text, kind } = props;
  return (
    <figure class={`seen ${kind ?? ""}`}>
      <figcaption>{name}</figcaption>
      <pre tabIndex={0} aria-label={label} data-part={kind}>
        {text}
      </pre>
    </figure>
  );
}

const PARTS = [
  ["inherited", "Inherited"],
  ["accumulated", "Accumulated"],
  ["fresh", "Fresh"],
] as const;

/** The parts of a context. */
export function SeenContext({ context, step }: { context: ContextAssembly; step?: string }) {
  return PARTS.map(([kind, name]) => {
    const text = context[kind];
    if (text === undefined) return null;
    return <Seen key={kind} kind={kind} name={name} label={step ? `${name}, ${step}` : name} text={text} />;
  });
}
