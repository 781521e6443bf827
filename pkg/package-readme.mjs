/**
 * The README of the npm package: README.md of the repository without the section about a clone, with links to the docs in the package.
 * `pkg/build.mjs` writes it.
 */

/** The section that needs a clone, up to the line about the licenses. */
const CLONE = /^## Try it from a clone\n[^]*?(?=^Licensed )/m;

/** Whether a file of the repository is in `dist/docs`. */
export function isPackedPage(path) {
  return /^docs\/[\w-]+\.md$/.test(path) && path !== "docs/crate.md";
}

export function packageReadme(readme) {
  if (!CLONE.test(readme)) throw new Error("README.md has no section `Try it from a clone` before `Licensed`");
  return readme.replace(CLONE, "").replace(/\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)/g, (link, label, path, anchor = "") => {
    if (/^[a-z]+:/.test(path) || path.startsWith("LICENSE")) return link;
    return isPackedPage(path) ? `[${label}](dist/${path}${anchor})` : label;
  });
}
