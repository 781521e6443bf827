import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { MessageText } from "./message.js";
import { OpenFolder, type OpenedFolder } from "./open-folder.js";

/** Where the files of a view come from: its sample, or a folder from the disk. The children say what is open. */
export function FolderSource(props: {
  /** What the button of the sample says. */
  sample: string;
  onSample: () => Promise<void>;
  /** Which files of a folder are read. */
  wants: (path: string) => boolean;
  onOpen: (folder: OpenedFolder) => void;
  problem: Signal<string | undefined>;
  children?: ComponentChildren;
}) {
  const { problem } = props;
  return (
    <div class="source">
      <button type="button" class="quiet" onClick={() => void props.onSample()}>
        {props.sample}
      </button>
      <OpenFolder
        label="Open a folder…"
        wants={props.wants}
        onOpen={props.onOpen}
        onProblem={(message) => (problem.value = message)}
      />
      <p class="about">{props.children ?? "Loading…"}</p>
      {problem.value ? (
        <div class="notice problem" role="alert">
          <p>
            <MessageText text={problem.value} sentence />
          </p>
        </div>
      ) : null}
    </div>
  );
}
