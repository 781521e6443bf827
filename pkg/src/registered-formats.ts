/** The formats that the host registered. Shared by all entry points, of which each has its own module. */

import type { CustomFormat } from "./types/commits.js";

export const registeredFormats = new Map<string, CustomFormat>();
