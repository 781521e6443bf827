import type { ComponentChildren } from "preact";

/** A name with its value, and an id by which tests find the value. */
export type Fact = readonly [name: string, value: ComponentChildren, id?: string];

/** Names with their values; those without a value are left out. */
export function Facts({ class: name, facts }: { class?: string; facts: readonly Fact[] }) {
  return (
    <dl class={name}>
      {facts.map(([name, value, id]) =>
        value === undefined ? null : (
          <div key={id ?? name}>
            <dt>{name}</dt>
            <dd data-figure={id}>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
