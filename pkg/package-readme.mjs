/**
 * The README of the npm package: README.md of the repository without the section about a clone, with links to the docs in the package.
 * `pkg/build.mjs` writes it.
 */

/** The section that needs a clone, up to the line about the licenses. */
const CLONE = /^## Try it from a clone\n[^]*?(?=^Licensed )/m;

/** Parts of a page that need a clone. */
const REPOSITORY = /^<!-- repository:start -->\n[^]*?^<!-- repository:end -->\n\n?/gm;

/** Pages about the crate and about the demo page, which are not in the package. */
const UNPACKED = ["docs/crate.md", "docs/page.md"];

/** Whether a file of the repository is in `dist/docs`. */
export function isPackedPage(path) {
  return /^docs\/[\w-]+\.md$/.test(path) && !UNPACKED.includes(path);
}

/** A page of the docs as it is packed: without the parts that need a clone. */
export function packedPage(page) {
  const text = page.replace(REPOSITORY, "").trimEnd();
  return `${withLinks(text, (path) => (isPackedPage(`docs/${path}`) ? path : undefined))}\n`;
}

export function packageReadme(readme) {
  if (!CLONE.test(readme)) throw new Error("README.md has no section `Try it from a clone` before `Licensed`");
  return withLinks(readme.replace(CLONE, "").replace(REPOSITORY, ""), (path) => {
    if (path.startsWith("LICENSE")) return path;
    return isPackedPage(path) ? `dist/${path}` : undefined;
  });
}

/** Replaces the path of each link to a file. Fails for one that is not in the package. */
function withLinks(text, pathOf) {
  return text.replace(/\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)/g, (link, label, path, anchor = "") => {
    if (/^[a-z]+:/.test(path)) return link;
    const packed = pathOf(path);
    if (packed === undefined)
      throw new Error(
        `${link} leads out of the package; put it between <!-- repository:start --> and <!-- repository:end -->`,
      );
    return `[${label}](${packed}${anchor})`;
  });
}
