import type { OpenedFile } from "../../ui/open-folder.js";

// Hidden folders and names with brackets are a part of what the sample is for.
const urls = import.meta.glob<string>("../../../../examples/vault/**/*.md", {
  query: "?url",
  import: "default",
  eager: true,
  exhaustive: true,
});

const BASE = "../../../../examples/vault/";

/** The Markdown files of the sample vault. */
export async function fetchSample(): Promise<OpenedFile[]> {
  return Promise.all(
    Object.entries(urls).map(async ([path, url]) => {
      const response = await fetch(url);
      if (!response.ok) throw new Error(`the sample could not be fetched (${response.status} ${response.statusText})`);
      return { path: path.slice(BASE.length), bytes: new Uint8Array(await response.arrayBuffer()) };
    }),
  );
}
