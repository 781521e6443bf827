import type { JsonValue, Media, Part } from "ctxweave/loom";
import type { ComponentChildren } from "preact";
import { decimal } from "../../ui/format.js";
import { Icon, type IconName } from "../../ui/icons.js";

/** One part of a message, by kind. An image at another address is named and never fetched. */
export function PartView({ part }: { part: Part }) {
  switch (part.type) {
    case "text":
      return <p class="text">{part.text}</p>;
    case "reasoning":
      return (
        <Box
          class="reasoning border-dashed bg-surface"
          icon="thought"
          title="Reasoning"
          note={part.signature && "signed"}
        >
          <p class="text text-s text-ink-2 italic">{part.text}</p>
        </Box>
      );
    case "toolCall":
      return (
        <Box class="tool-call" icon="wrench" title="Calls" name={part.name} note={part.id}>
          <Source label={`Arguments of ${part.name}`} text={pretty(part.arguments)} />
        </Box>
      );
    case "toolResult":
      return (
        <Box
          class={`tool-result ${part.isError ? "border-cut [&>figcaption]:text-cut" : ""}`}
          icon="reply"
          title={part.isError ? "Error from" : "Result of"}
          name={part.toolCallId}
        >
          {typeof part.content === "string" ? (
            <Source label={`Result of ${part.toolCallId}`} text={part.content} />
          ) : (
            part.content.map((inner, i) => <PartView key={i} part={inner} />)
          )}
        </Box>
      );
    case "image": {
      const { ref, altText = ref, mimeType, width, height } = part;
      const size = width && height ? `, ${width} × ${height}` : "";
      return (
        <Box class="image" icon="image" title={altText} note={`${mimeType}${size}${addressOf(part)}`}>
          {"data" in part ? (
            <img class="min-w-24 justify-self-start" src={dataUrl(part)} alt={altText} width={width} height={height} />
          ) : null}
        </Box>
      );
    }
    case "audio": {
      const length = part.durationMs ? `, ${decimal(part.durationMs / 1000)} s` : "";
      return (
        <Box class="audio" icon="sound" title={part.ref} note={`${part.mimeType}${length}${addressOf(part)}`}>
          {"data" in part ? <audio class="h-8" controls src={dataUrl(part)} aria-label={part.ref} /> : null}
        </Box>
      );
    }
    case "vendor":
      return (
        <Box title="Block of" name={part.vendor}>
          <Source label={`Block of ${part.vendor}`} text={pretty(part.value)} />
        </Box>
      );
  }
}

/** A part other than text: what it is, the name of what it belongs to, and a note. */
function Box(props: {
  class?: string;
  icon?: IconName;
  title: string;
  name?: string;
  note?: string | undefined;
  children: ComponentChildren;
}) {
  return (
    <figure class={`part grid gap-1 rounded-s border border-line bg-sunken px-2.5 py-2 ${props.class ?? ""}`}>
      <figcaption class="row gap-1.5 text-xs font-semibold wrap-anywhere text-ink-2">
        {props.icon ? <Icon name={props.icon} /> : null}
        {props.title} <code>{props.name}</code>
        <span class="quiet-text font-normal">{props.note}</span>
      </figcaption>
      {props.children}
    </figure>
  );
}

function Source({ label, text }: { label: string; text: string }) {
  return (
    <pre class="max-h-60 overflow-auto text-xs wrap-anywhere whitespace-pre-wrap" tabIndex={0} aria-label={label}>
      {text}
    </pre>
  );
}

const dataUrl = ({ mimeType, data }: { mimeType: string; data: string }): string => `data:${mimeType};base64,${data}`;

const addressOf = (media: Media): string => ("url" in media ? ` · ${media.url}` : "");

function pretty(value: JsonValue): string {
  if (typeof value !== "string") return JSON.stringify(value, null, 2);
  try {
    return JSON.stringify(JSON.parse(value), null, 2);
  } catch {
    return value;
  }
}
