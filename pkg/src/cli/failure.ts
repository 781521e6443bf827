/** How a command fails, and the exit codes that scripts may rely on. */

/** The exit codes; docs/command.md and `ctxweave --help` have the same list. */
export const exits = {
  done: 0,
  /** The input cannot be used, or does not pass the check that was asked for. */
  input: 1,
  /** A command, an option or a value that there is not. */
  usage: 2,
  /** A file that cannot be read or written. */
  file: 3,
  /** A mistake in this program. */
  bug: 4,
} as const;

/** What stops a command, with the exit code. */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly exit: number;

  constructor(exit: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exit = exit;
  }
}

/** What was typed makes no sense. */
export const misused = (message: string): Failure => new Failure(exits.usage, message);

/** The input cannot be used. */
export const unusable = (message: string): Failure => new Failure(exits.input, message);
