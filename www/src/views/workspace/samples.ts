import workspace from "../../../../examples/workspace?folder";
import { fetchEarly } from "../../shell/early.js";
import { currentView } from "../../shell/route.js";
import { fetchFiles } from "../../ui/fetch-files.js";
import type { OpenedFile } from "../../ui/open-folder.js";

// While the module of the area is on its way.
if (currentView() === "workspace") fetchEarly(workspace);

/** The files of the sample workspace. */
export function fetchSample(): Promise<OpenedFile[]> {
  return fetchFiles(workspace);
}
