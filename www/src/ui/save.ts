/** Downloads a file. */
export function saveFile(name: string, content: BlobPart): void {
  const url = URL.createObjectURL(new Blob([content]));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
