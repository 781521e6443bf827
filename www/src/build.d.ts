/** The address of a folder of samples as one file; see sample-folder.ts. */
declare module "*?folder" {
  const url: string;
  export default url;
}

/** Addresses of the documentation and the source, from vite.config.ts. Empty if not set. */
declare const DOCS_URL: string;
declare const SOURCE_URL: string;
