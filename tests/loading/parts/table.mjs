/** The table in docs/loading.md. */

/** Display names. */
const names = {
  bun: "Bun",
  deno: "Deno",
  jest: "Jest",
  metro: "Metro",
  next: "Next",
  node: "Node",
  parcel: "Parcel",
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

export function tableOf(rows) {
  const head = ["tool", "setup", "needs", "module source", "first load"];
  const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |\n`);
  return lines.join("");
}
