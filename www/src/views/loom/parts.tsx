import type { AudioPart, ImagePart, JsonValue, Part } from "ctxweave/loom";
import { decimal } from "../../ui/format.js";
import { Icon } from "../../ui/icons.js";

/** One part of a message, by kind. */
export function PartView({ part }: { part: Part }) {
  switch (part.type) {
    case "text":
      return <p class="text">{part.text}</p>;
    case "reasoning":
      return (
        <div class="part reasoning">
          <p class="part-head">
            <Icon name="thought" /> Reasoning{part.signature ? <span class="quiet-text"> signed</span> : null}
          </p>
          <p class="text">{part.text}</p>
        </div>
      );
    case "toolCall":
      return (
        <div class="part tool-call">
          <p class="part-head">
            <Icon name="wrench" /> Calls <code>{part.name}</code> <code class="quiet-text">{part.id}</code>
          </p>
          <pre tabIndex={0} aria-label={`Arguments of ${part.name}`}>
            {pretty(part.arguments)}
          </pre>
        </div>
      );
    case "toolResult":
      return (
        <div class={`part tool-result${part.isError ? " is-error" : ""}`}>
          <p class="part-head">
            <Icon name="reply" /> {part.isError ? "Error from" : "Result of"}{" "}
            <code class="quiet-text">{part.toolCallId}</code>
          </p>
          {typeof part.content === "string" ? (
            <pre tabIndex={0} aria-label={`Result of ${part.toolCallId}`}>
              {part.content}
            </pre>
          ) : (
            part.content.map((inner, i) => <PartView key={i} part={inner} />)
          )}
        </div>
      );
    case "image":
      return <Picture part={part} />;
    case "audio":
      return <Recording part={part} />;
    case "vendor":
      return (
        <div class="part">
          <p class="part-head">
            Block of <code>{part.vendor}</code>
          </p>
          <pre tabIndex={0} aria-label={`Block of ${part.vendor}`}>
            {pretty(part.value)}
          </pre>
        </div>
      );
  }
}

/** An inline image is shown; one at another address is named and never fetched. */
function Picture({ part }: { part: ImagePart }) {
  const alt = part.altText ?? part.ref;
  return (
    <figure class="part image">
      {"data" in part ? (
        <img
          src={`data:${part.mimeType};base64,${part.data}`}
          alt={alt}
          {...(part.width && part.height ? { width: part.width, height: part.height } : {})}
        />
      ) : null}
      <figcaption>
        <Icon name="image" /> {alt}
        <span class="quiet-text">
          {" "}
          {part.mimeType}
          {part.width && part.height ? `, ${part.width} × ${part.height}` : ""}
          {"url" in part ? <> · {part.url}</> : null}
        </span>
      </figcaption>
    </figure>
  );
}

function Recording({ part }: { part: AudioPart }) {
  return (
    <figure class="part audio">
      {"data" in part ? (
        <audio controls src={`data:${part.mimeType};base64,${part.data}`} aria-label={part.ref} />
      ) : null}
      <figcaption>
        <Icon name="sound" /> {part.ref}
        <span class="quiet-text">
          {" "}
          {part.mimeType}
          {part.durationMs ? `, ${decimal(part.durationMs / 1000)} s` : ""}
          {"url" in part ? <> · {part.url}</> : null}
        </span>
      </figcaption>
    </figure>
  );
}

function pretty(value: JsonValue): string {
  if (typeof value !== "string") return JSON.stringify(value, null, 2);
  try {
    return JSON.stringify(JSON.parse(value), null, 2);
  } catch {
    return value;
  }
}
