/**
 * Builds the documentation site into target/site/dist: `node site/build.mjs`. `cargo xtask site` runs it after building
 * the package.
 *
 * The guides are the project's Markdown files; the API pages are generated from the declarations of the package.
 * VitePress rejects links to missing pages; tests/site checks the rest.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Application } from "typedoc";
import { build } from "vitepress";
import { elsewhere, items, modules, pageOf } from "./pages.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const work = join(root, "target/site");
const pages = join(work, "pages");

const forgotten = readdirSync(join(root, "docs"))
  .filter((name) => name.endsWith(".md"))
  .map((name) => `docs/${name}`)
  .filter((file) => !elsewhere.includes(file) && !items.some((item) => item.file === file));
if (forgotten.length) throw new Error(`site/pages.mjs has no place for ${forgotten.join(", ")}`);

rmSync(pages, { recursive: true, force: true });
for (const item of items) write(pageOf(item), pageText(item));
await api();
await build(here);

function write(page, text) {
  const path = join(pages, page);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** The text of a page. A program is shown verbatim. */
function pageText(item) {
  const text = readFileSync(join(root, item.file), "utf8");
  if (item.file.endsWith(".mjs"))
    return `# ${item.title}\n\n\`${item.file}\` of the repository:\n\n\`\`\`js\n${text}\`\`\`\n`;
  return outsideCode(text, (prose) =>
    prose
      .replace(/\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, label, to) => link(item, whole, label, to))
      // Vue parses text that looks like an element.
      .replace(/<(?=[a-z]+[:_ >])(?!!--)/g, "&lt;"),
  );
}

/** Turns a link between files into one between pages. Links to files without a page are replaced by their names. */
function link(item, whole, label, to) {
  if (/^[a-z]+:/.test(to) || to.startsWith("#")) return whole;
  const [path, anchor] = to.split("#");
  const file = posix.join(posix.dirname(item.file), path);
  const found = items.find((other) => [file, posix.join(file, "README.md")].includes(other.file));
  if (!found) {
    if (!existsSync(join(root, file))) throw new Error(`${item.file}: missing ${to}`);
    return label.includes("`") || label === file ? label : `${label} (\`${file}\`)`;
  }
  const target = posix.relative(posix.dirname(pageOf(item)), pageOf(found));
  return `[${label}](./${target}${anchor ? `#${anchor}` : ""})`;
}

/** Changes the prose of a text, but not its code blocks and spans. */
function outsideCode(text, change) {
  const code = /(^```[\s\S]*?^```|`[^`\n]+`|``[^\n]*?``)/m;
  return text
    .split(new RegExp(code, "gm"))
    .map((part, at) => (at % 2 ? part : change(part)))
    .join("");
}

/** A page for each module of the package, from its declarations. */
async function api() {
  const declarations = join(root, "pkg/dist/types");
  const sources = join(work, "api");
  rmSync(sources, { recursive: true, force: true });
  const entryPoints = Object.entries(modules).map(([name, declared]) => {
    const path = join(sources, `${name}.ts`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `export * from "${relative(dirname(path), join(declarations, declared))}.js";\n`);
    return path;
  });
  const compilerOptions = {
    strict: true,
    target: "es2022",
    module: "nodenext",
    lib: ["esnext", "dom"],
    skipLibCheck: true,
  };
  const tsconfig = join(sources, "tsconfig.json");
  writeFileSync(tsconfig, JSON.stringify({ compilerOptions, files: entryPoints }));
  const app = await Application.bootstrapWithPlugins({
    name: "ctxweave",
    entryPoints,
    tsconfig,
    plugin: ["typedoc-plugin-markdown"],
    readme: "none",
    out: join(pages, "api"),
    disableSources: true,
    excludeInternal: true,
    excludePrivate: true,
    hidePageHeader: true,
    hideBreadcrumbs: true,
    // One page per module, so that related declarations are read together.
    router: "module",
    entryFileName: "index",
    // Table rows have anchors; VitePress would number headings differently.
    useHTMLAnchors: true,
    useCodeBlocks: true,
    expandParameters: true,
    expandObjects: true,
    kindSortOrder: ["Function", "Class", "Interface", "TypeAlias", "Variable", "Reference"],
    parametersFormat: "table",
    propertiesFormat: "table",
    logLevel: "Warn",
    validation: { notExported: false, invalidLink: true, notDocumented: false },
  });
  const project = await app.convert();
  if (!project) throw new Error("the declarations could not be read");
  await app.generateOutputs(project);
  if (app.logger.hasErrors()) throw new Error("the API could not be written");
}
