import vault from "../../../../examples/vault?folder";
import { sampleFiles } from "../../ui/sample-files.js";

/** Fetches the files of the sample vault. */
export const fetchSample = sampleFiles("folders", vault);
