import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Button } from "./button.js";
import type { Code } from "./code.js";
import { CopyAsCode } from "./copy-as-code.js";
import { useOpener } from "./drop.js";
import { ProblemNotice } from "./notice.js";
import { OpenFolder, type OpenedFolder } from "./open-folder.js";
import type { PersistedDocument } from "./own.js";
import { OwnTools } from "./own-tools.js";
import { WhatIsOpen } from "./what-is-open.js";

/** Source of a view's files: its sample, or a folder from the disk. The children describe the open one. */
export function FolderSource<T>(props: {
  /** The label of the sample's button. */
  sample: string;
  onSample: () => Promise<void>;
  /** Which files of a folder to read. */
  wants: (path: string) => boolean;
  onOpen: (folder: OpenedFolder) => void | Promise<void>;
  problem: Signal<string | undefined>;
  view: string;
  own: PersistedDocument<T>;
  code: () => Code | undefined;
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
    <div class="row source">
      <Button onClick={() => void props.onSample()}>{props.sample}</Button>
      <OpenFolder label="Open a folder…" wants={props.wants} onOpen={onOpen} onProblem={onProblem} />
      <WhatIsOpen failed={problem.value !== undefined}>{props.children}</WhatIsOpen>
      <CopyAsCode code={props.code} />
      <OwnTools view={props.view} own={props.own} />
      {problem.value ? <ProblemNotice problem={{ message: problem.value }} /> : null}
    </div>
  );
}
