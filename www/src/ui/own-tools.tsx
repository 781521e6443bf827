import { batch } from "@preact/signals";
import { linkParams } from "../shell/route.js";
import { Button } from "./button.js";
import { useSaid } from "./copy-button.js";
import { count } from "./format.js";
import { MessageText } from "./message.js";
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
  const move = (step: () => void): void =>
    batch(() => {
      step();
      props.onUndo?.();
    });
  const back = (): void => move(() => own.undo());
  const forth = (): void => move(() => own.redo());
  useEvents({
    keydown: (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
      // Fields have their native undo.
      if ((event.target as Element).closest?.("textarea, input, [contenteditable]")) return;
      event.preventDefault();
      if (event.shiftKey) forth();
      else back();
    },
  });
  return (
    <>
      {own.canUndo.value || own.canRedo.value ? (
        <>
          <Button label="Undo" icon="reset" disabled={!own.canUndo.value} onClick={back} />
          {own.canRedo.value ? <Button onClick={forth}>Redo</Button> : null}
        </>
      ) : null}
      <CopyLink view={view} own={own.isOwn.value} content={content} />
      {own.isKept.value ? <span class="quiet-text kept">Kept in this browser</span> : null}
      {own.isElsewhere.value ? (
        <span class="quiet-text elsewhere" role="status">
          Also open in another tab. Each tab keeps its own document.
        </span>
      ) : null}
      {own.left.value > 0 ? (
        <Button
          label={`Open the document of a closed tab (${own.left.value})`}
          onClick={() => void own.openLeft().then(props.onUndo)}
        />
      ) : null}
      {own.problem.value ? (
        <span class="own-problem" role="alert">
          <MessageText text={own.problem.value} sentence />
        </span>
      ) : null}
    </>
  );
}

/** A link that opens the document elsewhere: the user's document is part of it unless it is too large. */
function CopyLink({ view, own, content }: { view: string; own: boolean; content: () => unknown }) {
  const [said, setSaid] = useSaid(4000);
  const copy = async (): Promise<void> => {
    const params = linkParams(view);
    if (own) params.set("own", await pack(content()));
    const query = params.toString();
    const link = `${location.href.split("#")[0]}#/${view}${query ? `?${query}` : ""}`;
    const size = `${count(Math.ceil(link.length / 1000))} kB`;
    if (link.length > LONGEST_LINK) {
      setSaid(`Too large for a link: ${size}, the limit is ${LONGEST_LINK / 1000} kB`);
      return;
    }
    await navigator.clipboard.writeText(link);
    setSaid(own ? `Copied: the link contains your document, ${size}` : "Copied");
  };
  return (
    <>
      <Button
        label={said || "Copy link"}
        icon={said.startsWith("Copied") ? "check" : "link"}
        title={own ? "The link contains the open document" : undefined}
        onClick={() => void copy().catch(() => setSaid("Copying was refused"))}
      />
      <span class="sr-only" role="status">
        {said}
      </span>
    </>
  );
}
