/** Next: server components, route handlers, edge routes and client components, by both bundlers. */

import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { judged } from "../parts/browser.mjs";
import { expectOk } from "../parts/cases.mjs";
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

/** An application with a page of each kind. */
const files = (config) => ({
  "program.mjs": program(all),
  "next.config.mjs": `export default ${JSON.stringify(config)};\n`,
  "app/layout.js": `export default function Layout({ children }) {
  return <html lang="en"><body>{children}</body></html>;
}
`,
  "app/page.js": `import { run } from "../program.mjs";
export const dynamic = "force-dynamic";
export default async function Page() {
  return <pre>{${said}}</pre>;
}
`,
  "app/api/node/route.js": route("nodejs"),
  "app/api/edge/route.js": route("edge"),
  "app/client/page.js": `"use client";
import { useEffect } from "react";
export default function Page() {
  useEffect(() => void import("../../main.mjs"), []);
  return <p>in the browser</p>;
}
`,
  "main.mjs": pageMain,
});

/** Where a server runs, what is there; the packed form is loaded when it is needed first. */
const places = [
  ["server component", "/", "packed"],
  ["route handler", "/api/node", "packed"],
  ["edge route", "/api/edge", "files"],
];

async function everyPlace(address) {
  for (const [what, path] of places) {
    const response = await fetch(address + path);
    const text = await response.text();
    if (path === "/" ? !text.includes("<pre>OK</pre>") : text !== "OK") {
      throw new Error(`${what}: ${/<pre>(.*?)<\/pre>/s.exec(text)?.[1] ?? text.slice(0, 1000)}`);
    }
  }
  return judged(`${address}/client`);
}

/** What Next is told of the folders around it: nothing that a user's project of its own needs. */
const roots = (workspace) => ({ turbopack: { root: workspace.folder }, outputFileTracingRoot: workspace.folder });

const next = (workspace, args) => [process.execPath, [join(workspace.modules, "next/dist/bin/next"), ...args]];

const built = (bundler, flags) => ({
  tool: "next",
  what: `build, ${bundler}`,
  async run(workspace) {
    const dir = workspace.dir(`next build ${bundler}`, files(roots(workspace)));
    await run(...next(workspace, ["build", ...flags]), { cwd: dir, timeout: 500_000 });
    const port = await freePort();
    const start = next(workspace, ["start", "-p", port, "-H", "127.0.0.1"]);
    const client = await workspace.without(() => served(...start, { cwd: dir, port, path: "/api/node" }, everyPlace));
    const rows = places.map(([what, , how]) => ({ what: `${what}, ${bundler}`, how }));
    return [...rows, { how: client.how, what: `client component, ${bundler}` }];
  },
});

const developed = (bundler, flags) => ({
  tool: "next",
  what: `\`next dev\`, all of these, ${bundler}`,
  async run(workspace) {
    const dir = workspace.dir(`next dev ${bundler}`, files(roots(workspace)));
    const port = await freePort();
    const start = next(workspace, ["dev", ...flags, "-p", port, "-H", "127.0.0.1"]);
    await served(...start, { cwd: dir, port, path: "/api/node", timeout: 300_000 }, everyPlace);
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
  built("Turbopack", []),
  built("webpack", ["--webpack"]),
  developed("Turbopack", []),
  developed("webpack", ["--webpack"]),
  standalone,
];
