import type { OpenedFile } from "../../ui/open-folder.js";

const urls = import.meta.glob<string>("../../../../examples/workspace/*/*", {
  query: "?url",
  import: "default",
  eager: true,
});

const BASE = "../../../../examples/workspace/";

/** The files of the sample workspace. */
export async function fetchSample(): Promise<OpenedFile[]> {
  return Promise.all(
    Object.entries(urls).map(async ([path, url]) => {
      const response = await fetch(url);
      if (!response.ok) throw new Error(`the sample could not be fetched (${response.status} ${response.statusText})`);
      return { path: path.slice(BASE.length), bytes: new Uint8Array(await response.arrayBuffer()) };
    }),
  );
}
