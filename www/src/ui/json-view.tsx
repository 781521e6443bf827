import { CopyButton } from "./copy-button.js";

/** A value as JSON. */
export function JsonView({ name, label, value }: { name: string; label: string; value: unknown }) {
  const text = JSON.stringify(value, null, 2);
  return (
    <div class="raw">
      <section>
        <div class="raw-head">
          <h3>{name}</h3>
          <CopyButton label={label} text={() => text} />
        </div>
        <pre tabIndex={0} aria-label={`${name} as JSON`} data-json={name}>
          {text}
        </pre>
      </section>
    </div>
  );
}
