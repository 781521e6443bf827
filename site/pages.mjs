/**
 * The pages of the site, in the order of its menu: files of the project, with their titles in the menu. `cargo xtask site` fails if
 * a page of docs/ is missing here.
 */

import { readdirSync, readFileSync } from "node:fs";

/** The records of decisions, named by their first line. */
const decisions = readdirSync(new URL("../docs/decisions", import.meta.url))
  .filter((name) => name.endsWith(".md") && name !== "README.md")
  .map((name) => `docs/decisions/${name}`)
  .map((file) => {
    const [, title] = /^# (.+)/.exec(readFileSync(new URL(`../${file}`, import.meta.url), "utf8"));
    return { file, title: title.replaceAll("`", "") };
  });

export const menu = [
  {
    text: "Start",
    items: [
      { title: "What it is", file: "README.md", page: "index.md" },
      { title: "Quick start", file: "docs/quick-start.md" },
    ],
  },
  {
    text: "Chats and agents",
    items: [
      { title: "Fit a chat", file: "docs/chats.md" },
      { title: "Formats and conversion", file: "docs/chat-formats.md" },
      { title: "Token costs", file: "docs/chat-costs.md" },
      { title: "Summaries", file: "docs/summaries.md" },
      { title: "Agent loops, prefixes and caches", file: "docs/agents.md" },
      { title: "Hooks", file: "docs/hooks.md" },
    ],
  },
  {
    text: "Tokens and requests",
    items: [
      { title: "Count and cut tokens", file: "docs/tokens.md" },
      { title: "Vocabularies and open models", file: "docs/vocabularies.md" },
      { title: "Request bodies", file: "docs/bodies.md" },
    ],
  },
  {
    text: "Files, sessions and commits",
    items: [
      { title: "Which files an agent reads", file: "docs/agent-files.md" },
      { title: "Convert and check rules", file: "docs/rules.md" },
      { title: "Context files and rules", file: "docs/folders.md" },
      { title: "Sessions and conversion", file: "docs/sessions.md" },
      { title: "Session formats", file: "docs/session-formats.md" },
      { title: "Commits", file: "docs/commits.md" },
      { title: "Stores", file: "docs/stores.md" },
    ],
  },
  {
    text: "Trees",
    items: [
      { title: "Loom trees", file: "docs/loom.md" },
      { title: "Budget and truncation", file: "docs/truncation.md" },
      { title: "Loom-aware agents", file: "docs/loom-aware.md" },
      { title: "Resident trees", file: "docs/resident.md" },
      { title: "Undo, copies and previews", file: "docs/tree-changes.md" },
      { title: "Answers of providers", file: "docs/answers.md" },
      { title: "Import and export", file: "docs/import.md" },
      { title: "Identify files", file: "docs/identify.md" },
    ],
  },
  {
    text: "Agents' tasks",
    items: [
      { title: "Workspaces", file: "docs/workspace.md" },
      { title: "Task templates", file: "docs/operators.md" },
    ],
  },
  {
    text: "Reference",
    items: [
      { title: "The command", file: "docs/command.md" },
      { title: "Loading", file: "docs/loading.md" },
      { title: "Conventions", file: "docs/conventions.md" },
      { title: "Errors and limits", file: "docs/errors.md" },
      { title: "Limits", file: "docs/limits.md" },
      { title: "Benchmarks", file: "docs/benchmarks.md" },
      { title: "The estimator", file: "docs/estimator.md" },
      { title: "Compared with other libraries", file: "docs/comparison.md" },
      { title: "The page", file: "docs/page.md" },
    ],
  },
  {
    text: "Examples",
    items: [
      { title: "Node", file: "examples/node/README.md" },
      { title: "Vite", file: "examples/vite/README.md" },
      { title: "Next", file: "examples/next/README.md" },
      { title: "A loom in the browser", file: "examples/loom-ui/README.md" },
      { title: "Cloudflare Worker", file: "examples/cloudflare-worker/README.md" },
      { title: "Deno", file: "examples/deno-edge/README.md" },
      { title: "Adapters", file: "examples/adapters/README.md" },
      { title: "Task templates", file: "examples/operators.mjs" },
    ],
  },
  {
    text: "Contributing",
    items: [
      { title: "Changes", file: "CHANGELOG.md" },
      { title: "Architecture", file: "ARCHITECTURE.md" },
      { title: "Contributing", file: "CONTRIBUTING.md" },
      { title: "Decisions", file: "docs/decisions/README.md" },
    ],
  },
  { text: "Decisions", collapsed: true, items: decisions },
];

/**
 * The modules of the API, each with the declarations of its entry point. Names that several export are described in the first of
 * them, and the others link there: `ctxweave` has nearly all.
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

/** Files of docs/ that are no pages: the front page of the crate on docs.rs. */
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
