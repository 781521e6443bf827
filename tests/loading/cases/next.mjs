/** Next: server components, route handlers, edge routes and client components, by both bundlers. */

import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { asking, expectOk } from "../parts/cases.mjs";
import { freePort, run, served } from "../parts/process.mjs";
import { all, pageMain, program } from "../parts/program.mjs";

const said = `await run().catch((error) => "FAIL " + error.code + " " + error.details?.reason + ": " + error.message)`;
const route = (runtime) => `import { run } from "../../../program.mjs";
export const runtime = "${runtime}";
export const dynamic = "force-dynamic";
export async function GET() {
  return new Response(${said});
}
`;

const serverPage = (up, runtime) => `import { run } from "${up}/program.mjs";
export const runtime = "${runtime}";
export const dynamic = "force-dynamic";
export default async function Page() {
  return <pre>{${said}}</pre>;
}
`;

/** An application with a page of each kind. */
const files = (config, { edgeRoute = true } = {}) => ({
  "program.mjs": program(all),
  "next.config.mjs": `export default ${JSON.stringify(config)};\n`,
  "app/layout.js": `export default function Layout({ children }) {
  return <html lang="en"><body>{children}</body></html>;
}
`,
  "app/page.js": serverPage("..", "nodejs"),
  "app/edge/page.js": serverPage("../..", "edge"),
  "app/api/node/route.js": route("nodejs"),
  ...(edgeRoute && { "app/api/edge/route.js": route("edge") }),
  "app/client/page.js": `"use client";
import { useEffect } from "react";
export default function Page() {
  useEffect(() => void import("../../main.mjs"), []);
  return <p>in the browser</p>;
}
`,
  "main.mjs": pageMain,
});

/** A server has the files; the packed form is loaded when first needed. */
const places = [
  ["server component", "/", "packed"],
  ["route handler", "/api/node", "packed"],
  ["edge page", "/edge", "files"],
  ["edge route handler", "/api/edge", "files"],
];

/** With webpack, Next 16.4 builds no route handler for the edge, whatever it imports; Turbopack does. */
const withWebpack = { flags: ["--webpack"], edgeRoute: false };
const withTurbopack = { flags: [], edgeRoute: true };

const placesOf = ({ edgeRoute }) => (edgeRoute ? places : places.slice(0, -1));

/** Next's settings for the surrounding folders, which a user's project does not need. */
const roots = (workspace) => ({ turbopack: { root: workspace.folder }, outputFileTracingRoot: workspace.folder });

const next = (workspace, args) => [process.execPath, [join(workspace.modules, "next/dist/bin/next"), ...args]];

const built = (bundler, options) => ({
  tool: "next",
  what: `build, ${bundler}`,
  async run(workspace) {
    const dir = workspace.dir(`next build ${bundler}`, files(roots(workspace), options));
    await run(...next(workspace, ["build", ...options.flags]), { cwd: dir, timeout: 500_000 });
    const port = await freePort();
    const start = next(workspace, ["start", "-p", port, "-H", "127.0.0.1"]);
    const client = await workspace.without(() =>
      served(...start, { cwd: dir, port, path: "/api/node" }, asking(placesOf(options), "/client")),
    );
    const rows = placesOf(options).map(([what, , how]) => ({ what: `${what}, ${bundler}`, how }));
    return [...rows, { how: client.how, what: `client component, ${bundler}` }];
  },
});

const developed = (bundler, options) => ({
  tool: "next",
  what: `\`next dev\`, all of these, ${bundler}`,
  async run(workspace) {
    const dir = workspace.dir(`next dev ${bundler}`, files(roots(workspace), options));
    const port = await freePort();
    const start = next(workspace, ["dev", ...options.flags, "-p", port, "-H", "127.0.0.1"]);
    await served(
      ...start,
      { cwd: dir, port, path: "/api/node", timeout: 300_000 },
      asking(placesOf(options), "/client"),
    );
    return { how: "as in the build" };
  },
});

const standalone = {
  tool: "next",
  what: '`output: "standalone"` with `serverExternalPackages: ["ctxweave"]`',
  async run(workspace) {
    const config = {
      ...roots(workspace),
      output: "standalone",
      serverExternalPackages: ["ctxweave", "ctxweave-vocab"],
    };
    const dir = workspace.dir("next standalone", files(config));
    await run(...next(workspace, ["build"]), { cwd: dir, timeout: 500_000 });
    const elsewhere = mkdtempSync(join(tmpdir(), "ctxweave-loading-"));
    try {
      cpSync(join(dir, ".next/standalone"), elsewhere, { recursive: true });
      const app = join(elsewhere, relative(workspace.folder, dir));
      const port = await freePort();
      const env = { PORT: String(port), HOSTNAME: "127.0.0.1" };
      await served(process.execPath, ["server.js"], { cwd: app, env, port, path: "/api/node" }, async (address) => {
        for (const [, path] of places.slice(0, 2)) {
          const text = await (await fetch(address + path)).text();
          expectOk(text.replace(/^[\s\S]*<pre>(.*?)<\/pre>[\s\S]*$/, "$1"));
        }
      });
      const wasm = join(elsewhere, "node_modules/ctxweave/dist/ctxweave.wasm");
      return { how: existsSync(wasm) ? "files" : "packed" };
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  },
};

export const next16 = [
  built("Turbopack", withTurbopack),
  built("webpack", withWebpack),
  developed("Turbopack", withTurbopack),
  developed("webpack", withWebpack),
  standalone,
];
