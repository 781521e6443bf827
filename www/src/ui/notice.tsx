import { IconButton } from "./button.js";
import { MessageText } from "./message.js";

/** Why something could not be opened, and what to do; the open document is unchanged. */
export function ProblemNotice(props: {
  problem: { name: string; message: string; hint?: string };
  onDismiss: () => void;
}) {
  const { name, message, hint } = props.problem;
  return (
    <div class="notice problem" role="alert">
      <p>
        <strong>{name}</strong>: <MessageText text={message} />
      </p>
      {hint === undefined ? null : (
        <p class="quiet-text">
          <MessageText text={hint} />
        </p>
      )}
      <IconButton icon="close" label="Dismiss" class="reset" onClick={props.onDismiss} />
    </div>
  );
}
