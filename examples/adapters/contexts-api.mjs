/**
 * `GET /api/contexts/folders` and `GET /api/contexts/chain` of a vault server, as a handler of fetch requests:
 * `handler(vault)` takes a `Request` and returns a `Response`. `node contexts-api.mjs VAULT [PORT]` serves it.
 */

import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  buildContextChain,
  chainResponse,
  CtxweaveError,
  discoverContextFolders,
  foldersResponse,
  init,
} from "ctxweave/folders";

const json = (body, status = 200) => Response.json(body, { status });

/** The context files of the vault: the preferred one of each folder. */
async function contextFiles(vault) {
  const names = await readdir(vault, { recursive: true });
  const discovery = discoverContextFolders(names.map((name) => name.replaceAll("\\", "/")));
  const read = async ({ file: path }) => ({ path, content: await readFile(join(vault, path)) });
  return { discovery, files: await Promise.all(discovery.folders.map(read)) };
}

/** The handler for a vault on disk. Files are read for each request, so that edits are visible at once. */
export function handler(vault, { maxTokens } = {}) {
  return async (request) => {
    await init();
    const { pathname, searchParams } = new URL(request.url);
    if (request.method !== "GET") return json({ error: "method not allowed" }, 405);
    const { discovery, files } = await contextFiles(vault);
    if (pathname === "/api/contexts/folders") return json(foldersResponse(discovery));
    if (pathname !== "/api/contexts/chain") return json({ error: "not found" }, 404);
    const selected = (searchParams.get("folders") ?? "").split(",").filter((folder) => folder.trim() !== "");
    try {
      return json(chainResponse(buildContextChain({ files, selected, ...(maxTokens && { maxTokens }) })));
    } catch (error) {
      if (!(error instanceof CtxweaveError)) throw error;
      return json({ error: error.message, code: error.code }, 400);
    }
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [vault = ".", port = "8765"] = process.argv.slice(2);
  const answer = handler(vault);
  const server = createServer(async ({ method, url }, response) => {
    const { status, headers, body } = await answer(new Request(new URL(url, "http://localhost"), { method }));
    response.writeHead(status, Object.fromEntries(headers)).end(await new Response(body).text());
  });
  server.listen(Number(port), () => console.log(`http://localhost:${server.address().port}/api/contexts/folders`));
}
