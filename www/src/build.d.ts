/** The address of a folder of samples as one file: see sample-folder.ts. */
declare module "*?folder" {
  const url: string;
  export default url;
}

/** Where documentation and source are: see vite.config.ts. Empty where nobody has said. */
declare const DOCS_URL: string;
declare const SOURCE_URL: string;
