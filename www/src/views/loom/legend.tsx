import { index } from "./state.js";

/** What the marks in the drawing mean. */
export function Legend() {
  const agents = index.value?.agents ?? [];
  const models = agents.length > 0 ? agents.slice(0, 3) : ["model"];
  return (
    <details class="legend">
      <summary>What the marks mean</summary>
      <ul>
        <li>
          <Sample>
            <g class="mark by-human">
              <circle class="body" r={6} />
            </g>
          </Sample>
          human
        </li>
        {models.map((name, i) => (
          <li key={name}>
            <Sample>
              <g class={`mark by-model by-model-${i}`}>
                <rect class="body" x={-6} y={-6} width={12} height={12} rx={2.4} />
              </g>
            </Sample>
            {name}
            {i === 2 && agents.length > 3 ? " and others" : ""}
          </li>
        ))}
        {(["kept", "cut", "excluded", "skipped"] as const).map((fate) => (
          <li key={fate}>
            <Sample>
              <g class={`overlay fate fate-${fate} by-human`}>
                <circle class="halo" r={8.5} />
                <circle class="body" r={6} />
                {fate === "cut" ? <path class="glyph" d="M-3.500,0h7" /> : null}
                {fate === "excluded" ? <path class="glyph" d="M-3,-3l6,6M3,-3l-6,6" /> : null}
                {fate === "skipped" ? <circle class="glyph" r={1.6} /> : null}
              </g>
            </Sample>
            {fate}
          </li>
        ))}
        <li>
          <Sample>
            <g class="mark by-human">
              <circle class="edit-ring" r={9} />
              <circle class="body" r={6} />
            </g>
          </Sample>
          edit of another
        </li>
        {(
          [
            ["is-excluded", "M-4.500,4.500L4.500,-4.500", "marked excluded"],
            ["is-pruned", "M-4,-4L4,4M4,-4L-4,4", "pruned"],
          ] as const
        ).map(([name, strike, text]) => (
          <li key={name}>
            <Sample>
              <g class={`mark by-human ${name}`}>
                <circle class="body" r={6} />
                <path class="strike" d={strike} />
              </g>
            </Sample>
            {text}
          </li>
        ))}
        {(["annotation", "context", "instruction", "version"] as const).map((kind) => (
          <li key={kind}>
            <Sample>
              <path class={`link used ${kind}`} d="M-10,5C-3,5 3,-5 10,-5" />
            </Sample>
            {kind === "version" ? "another version" : kind}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Sample({ children }: { children: preact.ComponentChildren }) {
  return (
    <svg viewBox="-11 -11 22 22" aria-hidden="true">
      {children}
    </svg>
  );
}
