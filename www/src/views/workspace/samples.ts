import { fetchFiles } from "../../ui/fetch-files.js";
import type { OpenedFile } from "../../ui/open-folder.js";

const urls = import.meta.glob<string>("../../../../examples/workspace/*/*", {
  query: "?url",
  import: "default",
  eager: true,
});

/** The files of the sample workspace. */
export function fetchSample(): Promise<OpenedFile[]> {
  return fetchFiles(urls, "../../../../examples/workspace/");
}
