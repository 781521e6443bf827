import { batch } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { linkParams } from "../shell/route.js";
import { useSaid } from "./copy-button.js";
import { count } from "./format.js";
import { Icon } from "./icons.js";
import { MessageText } from "./message.js";
import type { PersistedDocument } from "./own.js";
import { LONGEST_LINK, pack } from "./share.js";

/** What can be done with what is open in a view: take steps back, and hand it on as a link. */
export function OwnTools<T>(props: {
  view: string;
  own: PersistedDocument<T>;
  /** What of it a link carries. */
  content: () => unknown;
  onUndo?: () => void;
}) {
  const { own, view } = props;
  // At once, so that nobody sees what is there again at the place where one was in the other.
  const move = (step: () => void): void =>
    batch(() => {
      step();
      props.onUndo?.();
    });
  const back = (): void => move(() => own.undo());
  const forth = (): void => move(() => own.redo());
  useEffect(() => {
    const off = new AbortController();
    addEventListener(
      "keydown",
      (event) => {
        if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
        // A field has an undo of its own.
        if ((event.target as Element).closest?.("textarea, input, [contenteditable]")) return;
        event.preventDefault();
        if (event.shiftKey) forth();
        else back();
      },
      { signal: off.signal },
    );
    return () => off.abort();
  });
  return (
    <>
      {own.canUndo.value || own.canRedo.value ? (
        <>
          <button type="button" class="quiet" disabled={!own.canUndo.value} onClick={back}>
            <Icon name="reset" />
            Undo
          </button>
          {own.canRedo.value ? (
            <button type="button" class="quiet" onClick={forth}>
              Redo
            </button>
          ) : null}
        </>
      ) : null}
      <CopyLink view={view} own={own.isOwn.value} content={props.content} />
      {own.isKept.value ? <span class="quiet-text kept">Kept in this browser</span> : null}
      {own.problem.value ? (
        <span class="own-problem" role="alert">
          <MessageText text={own.problem.value} sentence />
        </span>
      ) : null}
    </>
  );
}

/** A link that opens the same elsewhere: what is one's own is in it, as long as it is not too long. */
function CopyLink({ view, own, content }: { view: string; own: boolean; content: () => unknown }) {
  const [said, setSaid] = useSaid(4000);
  const copy = async (): Promise<void> => {
    const params = linkParams(view);
    if (own) params.set("own", await pack(content()));
    const query = params.toString();
    const link = `${location.href.split("#")[0]}#/${view}${query ? `?${query}` : ""}`;
    const size = `${count(Math.ceil(link.length / 1000))} kB`;
    if (link.length > LONGEST_LINK) {
      setSaid(`Too much for a link: ${size}, and ${LONGEST_LINK / 1000} kB is the most`);
      return;
    }
    await navigator.clipboard.writeText(link);
    setSaid(own ? `Copied: what is yours is in the link, ${size}` : "Copied");
  };
  return (
    <>
      <button
        type="button"
        class="quiet"
        title={own ? "The link holds what is open here" : undefined}
        onClick={() => void copy().catch(() => setSaid("Copying was refused"))}
      >
        <Icon name={said.startsWith("Copied") ? "check" : "link"} />
        {said || "Copy link"}
      </button>
      <span class="visually-hidden" role="status">
        {said}
      </span>
    </>
  );
}
