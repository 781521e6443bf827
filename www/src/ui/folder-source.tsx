import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useOpener } from "./drop.js";
import { MessageText } from "./message.js";
import { OpenFolder, type OpenedFolder } from "./open-folder.js";
import { WhatIsOpen } from "./what-is-open.js";

/** Where the files of a view come from: its sample, or a folder from the disk. The children say what is open. */
export function FolderSource(props: {
  /** What the button of the sample says. */
  sample: string;
  onSample: () => Promise<void>;
  /** Which files of a folder are read. */
  wants: (path: string) => boolean;
  onOpen: (folder: OpenedFolder) => void | Promise<void>;
  problem: Signal<string | undefined>;
  /** What can be done with what is open. */
  tools?: ComponentChildren;
  children?: ComponentChildren;
}) {
  const { problem } = props;
  const onProblem = (message: string): void => {
    problem.value = message;
  };
  const onOpen = (folder: OpenedFolder): void => void props.onOpen(folder);
  const ready = props.children !== undefined || problem.value !== undefined;
  useOpener({ hint: "Drop a folder or its files to open them", ready, wants: props.wants, onOpen, onProblem });
  return (
    <div class="source">
      <button type="button" class="quiet" onClick={() => void props.onSample()}>
        {props.sample}
      </button>
      <OpenFolder label="Open a folder…" wants={props.wants} onOpen={onOpen} onProblem={onProblem} />
      <WhatIsOpen failed={problem.value !== undefined}>{props.children}</WhatIsOpen>
      {props.tools}
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
