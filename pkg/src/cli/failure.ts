/** Failures of a command, and the stable exit codes. */

/** The exit codes, as listed in docs/command.md and `ctxweave --help`. */
export const exits = {
  done: 0,
  /** Invalid input. */
  input: 1,
  /** An unknown command or option, or an invalid value. */
  usage: 2,
  /** A file that cannot be read or written. */
  file: 3,
  /** An internal error. */
  bug: 4,
  /** A file has more tokens than `--limit`. */
  limit: 5,
} as const;

/** An error that ends a command with an exit code. */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly exit: number;

  constructor(exit: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exit = exit;
  }
}

/** A failure caused by the arguments. */
export const misused = (message: string): Failure => new Failure(exits.usage, message);

/** A failure caused by the input. */
export const unusable = (message: string): Failure => new Failure(exits.input, message);
