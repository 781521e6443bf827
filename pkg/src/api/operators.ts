/** XML context rules of tasks: what each step may see. */

import { CtxweaveError } from "../error.js";
import { callJson } from "../call.js";
import { guarded, reasonOf } from "../source.js";
import type {
  BegunContextAssembly,
  ContextAssembly,
  ContextAssemblyRequest,
  ContextAssemblyState,
  ContextMatchRequest,
  ExplainedOperator,
  FinishContextOptions,
  MemoryAnswer,
  MemorySystem,
  ParsedTask,
  ParseTaskOptions,
  ReduceFailure,
  ReduceFailureInput,
  Run,
  RunInput,
  RunNext,
  RunResult,
  RunState,
  SequentialFailure,
  SequentialFailureInput,
  Task,
  TaskInput,
} from "../types/operators.js";
import { checkedSignal, raceAbort } from "./abort.js";
import { checkedOptions, invalid } from "./checked.js";
import type { DriverOptions, ReadonlyData } from "../types/common.js";

/**
 * Reads a task template: every operator with its settings in force and where each came from. The task is frozen.
 *
 * @param xml the template; bytes have to be UTF-8
 * @throws {CtxweaveError} `invalid_xml` and `limit_exceeded`, with `line` and `column` in the details
 */
export function parseTask(
  xml: string | ArrayBuffer | ArrayBufferView,
  options?: ReadonlyData<ParseTaskOptions>,
): ParsedTask {
  const parsed = callJson("parseTask", { xml, options }) as ParsedTask;
  freeze(parsed.task);
  return parsed;
}

/**
 * Writes a task as its template with all defaults made explicit; nothing else changes, comments and unknown elements
 * included.
 *
 * @param task a whole task as `parseTask` gave it: only the root has its `source`
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function writeTask(task: Pick<Task, "source">): string {
  // A task knows its template; what was read of it does not have to cross again.
  const { source } = guarded("task", () => ({ source: (Object(task) as Pick<Task, "source">).source }));
  return callJson("writeTask", { source }) as string;
}

/**
 * Says of each operator, in the order of the template, what it will see and why.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function explainTask(task: ReadonlyData<TaskInput>): ExplainedOperator[] {
  return callJson("explainTask", task) as ExplainedOperator[];
}

/**
 * Begins to assemble the context of a task: it is ready, or the memory system has to be asked `input` and
 * {@link finishContextAssembly} be given the `state` and the answer.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function beginContextAssembly(request: ReadonlyData<ContextAssemblyRequest>): BegunContextAssembly {
  return callJson("beginContextAssembly", request) as BegunContextAssembly;
}

/**
 * Finishes an assembly with what the memory system answered. One that counts by a tokenizer of the caller's is given that once
 * more, in `options`.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function finishContextAssembly(
  state: ContextAssemblyState,
  answer: ReadonlyData<MemoryAnswer>,
  options?: FinishContextOptions,
): ContextAssembly {
  return callJson("finishContextAssembly", { state, answer, options }) as ContextAssembly;
}

/**
 * Assembles the context of a task, and asks the memory system where the rules say so. One that fails is asked once more.
 *
 * @throws {CtxweaveError} `context_retrieval_failure` when it fails again, with its error as the cause; the signal's reason when it
 * is aborted
 */
export async function assembleContextForTask(
  request: ReadonlyData<ContextAssemblyRequest>,
  memorySystem: MemorySystem,
  options: DriverOptions = {},
): Promise<ContextAssembly> {
  const signal = checkedSignal(checkedOptions(options, ["signal"]).signal);
  const begun = beginContextAssembly(request);
  if (begun.status === "ready") return begun.result;
  const answer = await ask(memorySystem, begun, signal);
  const { tokenizer } = request;
  return finishContextAssembly(begun.state, answer, tokenizer === undefined ? undefined : { tokenizer });
}

const ATTEMPTS = 2;

async function ask(
  memorySystem: MemorySystem,
  { input, text, purpose }: ContextMatchRequest,
  signal: DriverOptions["signal"],
): Promise<MemoryAnswer> {
  if (typeof memorySystem !== "function") throw invalid("memorySystem", "a function");
  let cause: unknown;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    try {
      // Its own copy each time: what it does to its input does not reach the next attempt.
      return await raceAbort(memorySystem({ ...input }, { text, purpose, ...(signal && { signal }) }), signal);
    } catch (thrown) {
      checkedSignal(signal);
      cause = thrown;
    }
  }
  const reason = reasonOf(cause);
  throw new CtxweaveError(
    "context_retrieval_failure",
    `the memory system failed ${ATTEMPTS} times: ${reason}; see that it can be reached and answers`,
    { attempts: ATTEMPTS, reason },
    { cause },
  );
}

/** The result of a sequential task of which a step has failed, with what the steps before gave. */
export function sequentialFailure(input: ReadonlyData<SequentialFailureInput>): SequentialFailure {
  return callJson("sequentialFailure", input) as SequentialFailure;
}

/** The result of a reduce task in which an inner task or the reduction has failed, with what was done before. */
export function reduceFailure(input: ReadonlyData<ReduceFailureInput>): ReduceFailure {
  return callJson("reduceFailure", input) as ReduceFailure;
}

/**
 * Begins to run a sequential or reduce task. The run is plain data; ask {@link nextRequest} what comes next.
 *
 * @throws {CtxweaveError} `invalid_input` for a task that is neither
 */
export function startRun(input: ReadonlyData<RunInput>): Run {
  return callJson("startRun", input) as Run;
}

/** What comes next in a run. */
export function nextRequest(run: ReadonlyData<RunState>): RunNext {
  return callJson("nextRequest", run) as RunNext;
}

/**
 * The run after what came of what came next; the run that is given stays as it is.
 *
 * @throws {CtxweaveError} `run_out_of_order` when it waits for something else
 */
export function recordResult(run: ReadonlyData<RunState>, result: ReadonlyData<RunResult>): Run {
  return callJson("recordResult", { run, result }) as Run;
}

/** Freezes plain data as deep as it goes; no template goes deeper than the limit `xmlDepth`. */
function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  Object.freeze(value);
  Object.values(value).forEach(freeze);
}
