/** The address of a folder of samples as one file: see sample-folder.ts. */
declare module "*?folder" {
  const url: string;
  export default url;
}
