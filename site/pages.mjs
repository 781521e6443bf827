/**
 * The pages of the site, in the order of its menu. A guide is a file of the project; `title` is what the menu calls it.
 * `cargo xtask site` fails where a page of docs/ is missing here.
 */

export const menu = [
  {
    text: "Start",
    items: [
      { title: "What it is", file: "README.md", page: "index.md" },
      { title: "Loading", file: "docs/loading.md" },
      { title: "The command", file: "docs/command.md" },
      { title: "Beside other libraries", file: "docs/comparison.md" },
    ],
  },
  {
    text: "Guides",
    items: [
      { title: "Chats", file: "docs/chats.md" },
      { title: "Prefixes, caches and thinking", file: "docs/prefixes.md" },
      { title: "Tokens", file: "docs/tokenizer.md" },
      { title: "Exact counts", file: "docs/counting.md" },
      { title: "Loom trees", file: "docs/loom.md" },
      { title: "A tree that stays", file: "docs/resident.md" },
      { title: "Request bodies", file: "docs/bodies.md" },
      { title: "Importing and exporting", file: "docs/import.md" },
      { title: "Identifying files", file: "docs/identify.md" },
      { title: "An agent's first turn", file: "docs/workspace.md" },
      { title: "AGENTS.md folders", file: "docs/folders.md" },
      { title: "Task templates", file: "docs/operators.md" },
      { title: "Commits", file: "docs/commits.md" },
      { title: "Stores", file: "docs/stores.md" },
      { title: "Transcripts of agents", file: "docs/transcripts.md" },
    ],
  },
  {
    text: "Examples",
    items: [
      { title: "Node", file: "examples/node/README.md" },
      { title: "Vite", file: "examples/vite/README.md" },
      { title: "Next", file: "examples/next/README.md" },
      { title: "A Loom in the browser", file: "examples/loom-ui/README.md" },
      { title: "Cloudflare Worker", file: "examples/cloudflare-worker/README.md" },
      { title: "Deno", file: "examples/deno-edge/README.md" },
      { title: "Task templates", file: "examples/operators.mjs" },
    ],
  },
  {
    text: "Reference",
    items: [
      { title: "Errors and diagnostics", file: "docs/errors.md" },
      { title: "Limits", file: "docs/limits.md" },
      { title: "Benchmarks", file: "docs/benchmarks.md" },
      { title: "The page", file: "docs/page.md" },
      { title: "The estimator", file: "docs/estimator.md" },
      { title: "What it is built on", file: "docs/choices.md" },
      { title: "Changes", file: "CHANGELOG.md" },
      { title: "Architecture", file: "ARCHITECTURE.md" },
      { title: "Contributing", file: "CONTRIBUTING.md" },
    ],
  },
];

/**
 * The modules of the API, each with the declarations of its entry point. What several have is described in the first of them, and
 * the others lead there: `ctxweave` has nearly all.
 */
export const modules = {
  "ctxweave/tokens": "entries/tokens",
  "ctxweave/chat": "entries/chat",
  "ctxweave/loom": "entries/loom",
  "ctxweave/commits": "entries/commits",
  "ctxweave/folders": "entries/folders",
  "ctxweave/operators": "entries/operators",
  "ctxweave/workspace": "entries/workspace",
  "ctxweave/import": "entries/import",
  "ctxweave/stores": "stores/index",
  "ctxweave/ai-sdk": "dropins/ai-sdk",
  "ctxweave/langchain": "dropins/langchain",
  "ctxweave/openai-agents": "dropins/openai-agents",
  "ctxweave/vocab": "vocab/o200k_base",
  ctxweave: "entries/default",
};

/** Of docs/, what is no page: the page of the crate on docs.rs. */
export const elsewhere = ["docs/crate.md"];

export const items = menu.flatMap(({ items }) => items);

/** The page that a file of the project becomes. */
export function pageOf({ file, page }) {
  return (
    page ??
    file
      .replace(/^docs\//, "")
      .replace(/\/README\.md$|\.mjs$/, ".md")
      .toLowerCase()
  );
}
