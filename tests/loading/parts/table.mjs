/** The table in docs/loading.md. */

/** Display names. */
const names = {
  bun: "Bun",
  deno: "Deno",
  jest: "Jest",
  "@angular/build": "Angular",
  "@sveltejs/kit": "SvelteKit",
  "@tanstack/react-start": "TanStack Start",
  astro: "Astro",
  metro: "Metro",
  next: "Next",
  node: "Node",
  nitropack: "Nitro",
  nuxt: "Nuxt",
  parcel: "Parcel",
  "react-router": "React Router",
  rollup: "Rollup",
  typescript: "TypeScript",
  typescript5: "TypeScript",
  "@yarnpkg/cli-dist": "Yarn",
  vite: "Vite",
  vite7: "Vite",
  vitest: "Vitest",
};

/** Cells of the columns. */
export function row({ tool, what, line, version }, { how, app, lazy }, workspace) {
  const size = app === undefined ? "" : `${app} kB${lazy ? ` + ${lazy} kB lazy` : ""}`;
  return [`${names[tool] ?? tool} ${version ?? workspace.version(tool)}`.trim(), what, line ?? "", how, size];
}

/** Neighbors that differ only in their setup share a row. */
function merged(rows) {
  const shared = [];
  for (const [tool, what, ...rest] of rows) {
    const last = shared.at(-1);
    const isSame = last && JSON.stringify([last[0], ...last.slice(2)]) === JSON.stringify([tool, ...rest]);
    if (isSame) last[1] += `; ${what}`;
    else shared.push([tool, what, ...rest]);
  }
  return shared;
}

export function tableOf(rows) {
  const head = ["tool", "setup", "needs", "module source", "first load"];
  const lines = [head, head.map(() => "---"), ...merged(rows)].map((cells) => `| ${cells.join(" | ")} |\n`);
  return lines.join("");
}
