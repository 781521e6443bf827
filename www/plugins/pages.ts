import type { Plugin, Rolldown } from "vite";
import { VIEW_LIST, type ViewEntry } from "../src/shell/view-list.js";
import { contentSecurityPolicy } from "./policy.js";

/** The public address of the page: link previews need absolute addresses. */
const ADDRESS = process.env["PAGE_URL"]?.replace(/\/*$/u, "/") ?? "";

const HEAD = "<!-- head -->";
const FRAME = "<!-- frame -->";

/**
 * Renders the page so that it can be shown before any code is loaded: with its frame, its style and preload hints. Also
 * writes a page per view, such as `chats.html`, with a title, a description and a preview for links to it.
 */
export function pages(): Plugin {
  let building = false;
  return {
    name: "pages",
    enforce: "post",
    configResolved(config) {
      building = config.command === "build";
    },
    transformIndexHtml: {
      order: "pre",
      handler: (html) => (building ? html : html.replace(HEAD, headOf(VIEW_LIST[0])).replace(FRAME, frame())),
    },
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const index = bundle["index.html"];
        if (index?.type !== "asset") return;
        const html = withStyle(String(index.source), bundle).replace(FRAME, frame());
        const script = startScript(bundle);
        const page = (view: ViewEntry): string =>
          html
            .replace(HEAD, [policyTag(script), headOf(view), `<script>${script}</script>`].join("\n    "))
            .replace("<html", `<html data-view="${view.id}"`);
        index.source = page(VIEW_LIST[0]);
        for (const view of VIEW_LIST) {
          this.emitFile({ type: "asset", fileName: `${view.id}.html`, source: page(view) });
        }
      },
    },
  };
}

function policyTag(script: string): string {
  return `<meta http-equiv="Content-Security-Policy" content="${contentSecurityPolicy(script)}" />`;
}

function headOf({ id, title, description }: ViewEntry): string {
  const meta = (key: "name" | "property", name: string, content: string): string =>
    `<meta ${key}="${name}" content="${content.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}" />`;
  return [
    `<title>${title} · ctxweave</title>`,
    meta("name", "description", description),
    meta("property", "og:type", "website"),
    meta("property", "og:site_name", "ctxweave"),
    meta("property", "og:title", title),
    meta("property", "og:description", description),
    meta("property", "og:image", `${ADDRESS || "./"}preview/${id}.jpg`),
    ...(ADDRESS ? [meta("property", "og:url", `${ADDRESS}${id}.html`)] : []),
    meta("name", "twitter:card", "summary_large_image"),
  ].join("\n    ");
}

/** The frame that App renders around every view, so that nothing moves when App takes over. */
function frame(): string {
  const links = VIEW_LIST.map(({ id, name }) => `<li><a href="#/${id}" data-name="${name}">${name}</a></li>`).join("");
  return (
    `<header class="top"><a class="brand" href="#/${VIEW_LIST[0].id}"><svg class="icon" aria-hidden="true"></svg>` +
    `<span class="brand-name">ctxweave</span></a><nav aria-label="Views"><ul>${links}</ul></nav></header>` +
    `<main id="main"><p class="loading" role="status">Loading…</p></main>`
  );
}

/** Inlines the style: one request less before the first paint. */
function withStyle(html: string, bundle: Rolldown.OutputBundle): string {
  return html.replace(/ *<link rel="stylesheet"[^>]*href="\.\/([^"]+)"[^>]*>\n?/gu, (tag, name: string) => {
    const style = bundle[name];
    if (style?.type !== "asset") return tag;
    delete bundle[name];
    return `    <style>${String(style.source).trim()}</style>\n`;
  });
}

/** The files that a view needs, known before its code is loaded. */
interface Needs {
  modules: string[];
  wasm: string[];
}

/**
 * The inline script that runs first: it sets the chosen theme and fetches the files of the view in the address in
 * parallel instead of one after another.
 */
function startScript(bundle: Rolldown.OutputBundle): string {
  const needs = Object.fromEntries(VIEW_LIST.map(({ id }) => [id, needsOf(id, bundle)]));
  return `(${start})(${JSON.stringify(needs)})`;
}

/** Runs in the page. */
function start(needs: Record<string, Needs>): void {
  const root = document.documentElement;
  try {
    root.dataset["theme"] = localStorage.getItem("ctxweave.theme") ?? "system";
  } catch {
    // Without storage the device's theme applies.
  }
  const view = /^#\/([a-z-]+)/u.exec(location.hash)?.[1] ?? root.dataset["view"] ?? "";
  const { modules, wasm } = needs[view] ?? { modules: [], wasm: [] };
  const early: Record<string, Promise<Response>> = {};
  for (const file of wasm) {
    const url = new URL(file, document.baseURI).href;
    early[url] = fetch(url);
    // The rejection is reported to those who await it.
    early[url].catch(() => undefined);
  }
  for (const href of modules) {
    document.head.append(Object.assign(document.createElement("link"), { rel: "modulepreload", href }));
  }
  Object.assign(window, { early });
}

function needsOf(view: string, bundle: Rolldown.OutputBundle): Needs {
  const chunks = Object.values(bundle).filter((output) => output.type === "chunk");
  const first = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/views/${view}/view.tsx`));
  const entry = chunks.find(({ isEntry }) => isEntry);
  if (!first || !entry) return { modules: [], wasm: [] };
  const at = new Set([first]);
  for (const chunk of at) {
    for (const name of chunk.imports) {
      const next = bundle[name];
      if (next?.type === "chunk") at.add(next);
    }
  }
  const needed = [...at].filter((chunk) => chunk !== entry);
  const areas = needed.flatMap(({ moduleIds }) =>
    moduleIds.flatMap((id) => /\/dist\/([a-z]+)\/core\.js$/u.exec(id)?.[1] ?? []),
  );
  const wasm = Object.keys(bundle).filter((name) => areas.some((area) => name.startsWith(`assets/${area}-`)));
  return {
    modules: needed.map(({ fileName }) => fileName),
    wasm: wasm.filter((name) => name.endsWith(".wasm")),
  };
}
