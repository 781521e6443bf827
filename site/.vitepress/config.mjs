/** Configuration of the site. `site/build.mjs` writes the pages. */

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { menu, modules, pageOf } from "../pages.mjs";

const work = join(dirname(fileURLToPath(import.meta.url)), "../../target/site");

const link = (page) => `/${page.replace(/(index)?\.md$/, "")}`;

export default {
  title: "ctxweave",
  description: "What your model sees, what it costs, and what was cut",
  srcDir: join(work, "pages"),
  outDir: join(work, "dist"),
  cacheDir: join(work, "cache"),
  // The base path: `SITE_BASE=/docs/ cargo xtask site`.
  base: process.env.SITE_BASE ?? "/",
  lastUpdated: false,
  markdown: { theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" } },
  themeConfig: {
    // The index is a file of the site, fetched on the first search: no other host is contacted.
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Quick start", link: "/quick-start" },
      { text: "Guides", link: "/chats" },
      { text: "API", link: "/api/" },
      { text: "Comparison", link: "/comparison" },
    ],
    sidebar: [
      ...menu.map(({ text, collapsed, items }) => ({
        text,
        collapsed,
        items: items.map((item) => ({ text: item.title, link: link(pageOf(item)) })),
      })),
      { text: "API", items: Object.keys(modules).map((name) => ({ text: name, link: `/api/${name}` })) },
    ],
  },
};
