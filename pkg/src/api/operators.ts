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
 * Parses a task template: every operator with its effective settings and their origins. The task is frozen. See
 * docs/operators.md.
 *
 * @param xml the template; bytes must be UTF-8
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
 * Writes a task as its template with all defaults made explicit; everything else, such as comments and unknown
 * elements, is unchanged.
 *
 * @param task a whole task from `parseTask`: only the root has its `source`
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function writeTask(task: Pick<Task, "source">): string {
  // The source is enough; the parsed fields do not have to cross.
  const { source } = guarded("task", () => ({ source: (Object(task) as Pick<Task, "source">).source }));
  return callJson("writeTask", { source }) as string;
}

/**
 * Explains for each operator, in template order, what it will see and why.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function explainTask(task: ReadonlyData<TaskInput>): ExplainedOperator[] {
  return callJson("explainTask", task) as ExplainedOperator[];
}

/**
 * Begins the assembly of a task's context. Either it is ready, or the memory system has to be asked for `input`, and
 * its answer is passed to {@link finishContextAssembly} with the `state`.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function beginContextAssembly(request: ReadonlyData<ContextAssemblyRequest>): BegunContextAssembly {
  return callJson("beginContextAssembly", request) as BegunContextAssembly;
}

/**
 * Completes an assembly with the memory system's answer. A custom tokenizer must be passed again in `options`.
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
 * Assembles the context of a task, asking the memory system if the rules require it; a failed request is retried once.
 *
 * @throws {CtxweaveError} `context_retrieval_failure` after the second failure, with its error as the cause; the
 *   signal's reason when it is aborted
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
      // A copy per attempt: changes to the input do not reach the next attempt.
      return await raceAbort(memorySystem({ ...input }, { text, purpose, ...(signal && { signal }) }), signal);
    } catch (thrown) {
      checkedSignal(signal);
      cause = thrown;
    }
  }
  const reason = reasonOf(cause);
  throw new CtxweaveError(
    "context_retrieval_failure",
    `the memory system failed ${ATTEMPTS} times: ${reason}; check that it is reachable and answers`,
    { attempts: ATTEMPTS, reason },
    { cause },
  );
}

/** The result of a sequential task with a failed step, including the outputs of earlier steps. */
export function sequentialFailure(input: ReadonlyData<SequentialFailureInput>): SequentialFailure {
  return callJson("sequentialFailure", input) as SequentialFailure;
}

/** The result of a reduce task in which an inner task or the reduction failed, including earlier outputs. */
export function reduceFailure(input: ReadonlyData<ReduceFailureInput>): ReduceFailure {
  return callJson("reduceFailure", input) as ReduceFailure;
}

/**
 * Starts a run of a task. The run is plain data; {@link nextRequest} returns the next action.
 *
 * @throws {CtxweaveError} `invalid_input` for a task of unknown type
 */
export function startRun(input: ReadonlyData<RunInput>): Run {
  return callJson("startRun", input) as Run;
}

/** The next action of a run. */
export function nextRequest(run: ReadonlyData<RunState>): RunNext {
  return callJson("nextRequest", run) as RunNext;
}

/**
 * The next actions of a run, at most `limit`: several inputs of a reduce task can be under way at once. Record their
 * results with their `index`, in any order.
 */
export function nextRequests(run: ReadonlyData<RunState>, limit: number): RunNext[] {
  return callJson("nextRequests", { run, limit }) as RunNext[];
}

/**
 * Returns the run after the outcome of its next action; the input is unchanged.
 *
 * @throws {CtxweaveError} `run_out_of_order` if the run waits for another action
 */
export function recordResult(run: ReadonlyData<RunState>, result: ReadonlyData<RunResult>): Run {
  return callJson("recordResult", { run, result }) as Run;
}

/** Freezes plain data recursively; the limit `xmlDepth` bounds the depth. */
function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  Object.freeze(value);
  Object.values(value).forEach(freeze);
}
