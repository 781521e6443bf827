import { IconButton } from "./button.js";
import { MessageText } from "./message.js";

/** Why something could not be done, and what to do instead. */
export function ProblemNotice(props: {
  /** The file that has the problem. */
  problem: { name?: string; message: string; hint?: string };
  onDismiss?: () => void;
}) {
  const { name, message, hint } = props.problem;
  return (
    <div class="notice problem" role="alert">
      <p>
        {name === undefined ? null : <strong>{name}: </strong>}
        <MessageText text={message} sentence={name === undefined} />
      </p>
      {hint === undefined ? null : (
        <p class="quiet-text">
          <MessageText text={hint} />
        </p>
      )}
      {props.onDismiss ? (
        <IconButton icon="close" label="Dismiss" class="reset absolute top-2.5 right-2.5" onClick={props.onDismiss} />
      ) : null}
    </div>
  );
}
