import type { OpenedFile } from "./open-folder.js";

/** Fetches the files of a sample: addresses by path, as `import.meta.glob` gives them, all below the folder `base`. */
export function fetchFiles(urls: Record<string, string>, base: string): Promise<OpenedFile[]> {
  return Promise.all(
    Object.entries(urls).map(async ([path, url]) => {
      const response = await fetch(url);
      if (!response.ok) throw new Error(`the sample could not be fetched (${response.status} ${response.statusText})`);
      return { path: path.slice(base.length), bytes: new Uint8Array(await response.arrayBuffer()) };
    }),
  );
}
