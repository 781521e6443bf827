import { createHash } from "node:crypto";
import type { Plugin, Rolldown } from "vite";
import { FRAME_CLASSES } from "../src/shell/frame.js";
import { VIEW_LIST, type ViewEntry } from "../src/shell/view-list.js";

/** The public address of the page: link previews need absolute addresses. */
const ADDRESS = process.env["PAGE_URL"]?.replace(/\/*$/u, "/") ?? "";

const HEAD = "<!-- head -->";
const FRAME = "<!-- frame -->";

/**
 * Renders the page so that it can be shown before any code is loaded: with its frame, its style and preload hints. Also
 * writes a page per view, such as `chats.html`, with a title, a description and a preview for links to it.
 */
export function pages(): Plugin {
  return {
    name: "pages",
    enforce: "post",
    transformIndexHtml: {
      order: "pre",
      handler: (html, { server }) => (server ? html.replace(HEAD, headOf(VIEW_LIST[0])).replace(FRAME, frame()) : html),
    },
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const index = bundle["index.html"];
        if (index?.type !== "asset") return;
        const html = withStyle(String(index.source), bundle).replace(FRAME, frame());
        const needs = Object.fromEntries(VIEW_LIST.map((view) => [view.id, needsOf(view, bundle)]));
        const script = `(${start})(${JSON.stringify(needs)})`;
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

/** Lets the page connect only to its server. The hash allows its one inline script. */
function policyTag(script: string): string {
  const policy = [
    "default-src 'self'",
    `script-src 'self' 'wasm-unsafe-eval' 'sha256-${createHash("sha256").update(script).digest("base64")}'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "media-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return `<meta http-equiv="Content-Security-Policy" content="${policy.join("; ")}" />`;
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
  const links = VIEW_LIST.map(({ id, name }) => `<li><a href="#/${id}">${name}</a></li>`).join("");
  return (
    `<header class="${FRAME_CLASSES.top}"><a class="${FRAME_CLASSES.brand}" href="#/${VIEW_LIST[0].id}">` +
    `<svg class="icon" aria-hidden="true"></svg><span class="${FRAME_CLASSES.name}">ctxweave</span></a>` +
    `<nav class="${FRAME_CLASSES.nav}" aria-label="Views"><ul class="${FRAME_CLASSES.list}">${links}</ul></nav></header>` +
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

/**
 * Runs first in the page: sets the chosen theme, and fetches the files of the view in the address in parallel instead of
 * one after another.
 */
function start(needs: Record<string, ReturnType<typeof needsOf>>): void {
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

/** The files that a view needs, known before its code is loaded. */
function needsOf({ id, area }: ViewEntry, bundle: Rolldown.OutputBundle) {
  const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
  const needed = new Set(chunks.filter(({ facadeModuleId }) => facadeModuleId?.endsWith(`/views/${id}/view.tsx`)));
  for (const { imports } of needed) {
    for (const chunk of chunks) if (!chunk.isEntry && imports.includes(chunk.fileName)) needed.add(chunk);
  }
  return {
    modules: [...needed].map(({ fileName }) => fileName),
    wasm: Object.keys(bundle).filter((name) => name.startsWith(`assets/${area}-`) && name.endsWith(".wasm")),
  };
}
