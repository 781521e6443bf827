import { readdir, readFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import type { Plugin } from "vite";

const QUERY = "?folder";

/**
 * `import url from "./some/folder?folder"`: the address of a JSON file with all files of the folder, by path. UTF-8
 * files are strings, others `{ base64 }`.
 */
export function sampleFolder(): Plugin {
  return {
    name: "sample-folder",
    enforce: "pre",
    async resolveId(source, importer) {
      if (!source.endsWith(QUERY) || importer === undefined) return undefined;
      return `${join(importer, "..", source.slice(0, -QUERY.length))}${QUERY}`;
    },
    async load(id) {
      if (!id.endsWith(QUERY)) return undefined;
      const folder = id.slice(0, -QUERY.length);
      const source = JSON.stringify(await filesOf(folder));
      if (this.environment.mode === "dev") {
        const url = `data:application/json;base64,${Buffer.from(source).toString("base64")}`;
        return `export default ${JSON.stringify(url)}`;
      }
      const file = this.emitFile({ type: "asset", name: `${basename(folder)}.json`, source });
      return `export default import.meta.ROLLUP_FILE_URL_${file}`;
    },
  };
}

async function filesOf(folder: string): Promise<Record<string, string | { base64: string }>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const files: Record<string, string | { base64: string }> = {};
  for (const path of paths.sort()) {
    const bytes = await readFile(path);
    const text = bytes.toString("utf8");
    const isText = Buffer.from(text).equals(bytes);
    files[relative(folder, path).replaceAll("\\", "/")] = isText ? text : { base64: bytes.toString("base64") };
  }
  return files;
}
