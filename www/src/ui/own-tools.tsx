import { batch } from "@preact/signals";
import { linkParams } from "../shell/route.js";
import { Button } from "./button.js";
import { ReportingButton } from "./copy-button.js";
import { count } from "./format.js";
import { ProblemNotice } from "./notice.js";
import type { PersistedDocument } from "./own.js";
import { LONGEST_LINK, pack } from "./share.js";
import { useEvents } from "./use-events.js";

/** Actions on the open document of a view: undo and redo, and a link to it. */
export function OwnTools<T>(props: {
  view: string;
  own: PersistedDocument<T>;
  /** The part of the document that a link carries; defaults to all of it. */
  content?: () => unknown;
  onUndo?: () => void;
}) {
  const { own, view, content = () => own.value.value } = props;
  // Instant, so that the view does not scroll from the old position to the restored one.
  const move = (step: "undo" | "redo"): void =>
    batch(() => {
      own[step]();
      props.onUndo?.();
    });
  useEvents({
    keydown: (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
      // Fields have their native undo.
      if ((event.target as Element).closest?.("textarea, input, [contenteditable]")) return;
      event.preventDefault();
      move(event.shiftKey ? "redo" : "undo");
    },
  });
  return (
    <>
      {own.canUndo.value || own.canRedo.value ? (
        <Button label="Undo" icon="reset" disabled={!own.canUndo.value} onClick={() => move("undo")} />
      ) : null}
      {own.canRedo.value ? <Button label="Redo" onClick={() => move("redo")} /> : null}
      <CopyLink view={view} own={own.isOwn.value} content={content} />
      {own.isKept.value ? <span class="quiet-text text-s">Kept in this browser</span> : null}
      {own.isElsewhere.value ? (
        <span class="quiet-text text-s" role="status">
          Also open in another tab. Each tab keeps its own document.
        </span>
      ) : null}
      {own.left.value > 0 ? (
        <Button
          label={`Open the document of a closed tab (${own.left.value})`}
          onClick={() => void own.openLeft().then(props.onUndo)}
        />
      ) : null}
      {own.problem.value ? <ProblemNotice problem={{ message: own.problem.value }} /> : null}
    </>
  );
}

/** A link that opens the document elsewhere: the user's document is part of it unless it is too large. */
function CopyLink({ view, own, content }: { view: string; own: boolean; content: () => unknown }) {
  const copy = async (): Promise<string> => {
    const params = linkParams(view);
    if (own) params.set("own", await pack(content()));
    const query = params.toString();
    const link = `${location.href.split("#")[0]}#/${view}${query ? `?${query}` : ""}`;
    const size = `${count(Math.ceil(link.length / 1000))} kB`;
    if (link.length > LONGEST_LINK) return `Too large for a link: ${size}, the limit is ${LONGEST_LINK / 1000} kB`;
    await navigator.clipboard.writeText(link);
    return own ? `Copied: the link contains your document, ${size}` : "Copied";
  };
  const title = own ? "The link contains the open document" : undefined;
  return <ReportingButton label="Copy link" icon="link" title={title} seconds={4} action={copy} />;
}
