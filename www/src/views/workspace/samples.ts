import workspace from "../../../../examples/workspace?folder";
import { fetchFiles } from "../../ui/fetch-files.js";
import type { OpenedFile } from "../../ui/open-folder.js";

/** The files of the sample workspace. */
export function fetchSample(): Promise<OpenedFile[]> {
  return fetchFiles(workspace);
}
