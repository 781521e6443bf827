import { fetchFiles } from "../../ui/fetch-files.js";
import type { OpenedFile } from "../../ui/open-folder.js";

// Hidden folders and names with brackets are a part of what the sample is for.
const urls = import.meta.glob<string>("../../../../examples/vault/**/*.md", {
  query: "?url",
  import: "default",
  eager: true,
  exhaustive: true,
});

/** The Markdown files of the sample vault. */
export function fetchSample(): Promise<OpenedFile[]> {
  return fetchFiles(urls, "../../../../examples/vault/");
}
