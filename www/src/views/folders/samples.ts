import vault from "../../../../examples/vault?folder";
import { fetchFiles } from "../../ui/fetch-files.js";
import type { OpenedFile } from "../../ui/open-folder.js";

/** The files of the sample vault. */
export function fetchSample(): Promise<OpenedFile[]> {
  return fetchFiles(vault);
}
