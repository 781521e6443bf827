import workspace from "../../../../examples/workspace?folder";
import { sampleFiles } from "../../ui/sample-files.js";

/** Fetches the files of the sample workspace. */
export const fetchSample = sampleFiles("workspace", workspace);
