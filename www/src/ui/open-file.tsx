import type { Target } from "../reader/kinds.js";
import { openDropped } from "../shell/dropped.js";
import { FilesButton } from "./button.js";

/** A button that opens files from the disk like dropped ones. Nothing leaves the page. */
export function OpenFile(props: {
  label: string;
  id: string;
  about: string;
  /** The view to open a file in, unless its kind is only for another. */
  view?: Target;
}) {
  const { view, ...rest } = props;
  const open = (files: [File, ...File[]]): void => {
    const found = files.map((file) => ({ path: file.name, file: async () => file }));
    void openDropped(files.length > 1 ? "Opened files" : files[0].name, found, { preferred: view });
  };
  return <FilesButton {...rest} onFiles={open} />;
}
