import type { Diagnostic, DriverOptions, Limits, OwnTokenizer, Tokenizer } from "./common.js";

// ---------------------------------------------------------------------------------------------------------------------
// Tasks
// ---------------------------------------------------------------------------------------------------------------------

/** What a task does with what is in it. Another name is a type that is not known: it is kept, and has no defaults. */
export type TaskType = "atomic" | "sequential" | "reduce" | (string & Record<never, never>);

/**
 * What a task is to the one around it. `task` is the root, or the task that an inner or reduction task consists of.
 */
export type TaskRole = "task" | "step" | "innerTask" | "reductionTask";

/**
 * The settings in force of one operator. A field is absent where the operator has no such setting, or where its type is
 * not known and the template does not say it.
 */
export interface ContextManagement {
  /** What becomes of the parent's context: all of it, nothing, or what the memory system gives back of it. */
  inheritContext?: "full" | "none" | "subset";
  /** Whether what the steps give is kept for those after them. */
  accumulateData?: boolean;
  /** What is kept of them. */
  accumulationFormat?: "notes_only" | "full_output";
  /** Whether the memory system is asked for new context. */
  freshContext?: "enabled" | "disabled";
}

/**
 * Where a value in force came from: the template, the table of defaults, or an invalid value of the template, which counts
 * as the narrowest one of its setting.
 */
export type Origin = "explicit" | "default" | "invalid";

/** Where each value in force came from; the fields that are there are those of the settings, and the type. */
export interface Origins {
  type?: Origin;
  inheritContext?: Origin;
  accumulateData?: Origin;
  accumulationFormat?: Origin;
  freshContext?: Origin;
}

/** One operator by itself: what the assembly of its context needs. */
export interface Operator {
  type: TaskType;
  role: TaskRole;
  /** The template's `id` attribute. */
  id?: string;
  /** The text of the template's `<description>`, without the white space around it. */
  description?: string;
  contextManagement: ContextManagement;
  origins: Origins;
}

/** An operator as functions take it: a {@link Task}, or one made by hand. What is left out is the default. */
export type OperatorInput = Partial<Operator>;

/** Part of a text, in UTF-16 code units. */
export interface SourceSpan {
  start: number;
  end: number;
}

/** An element that means nothing here, kept as it stands in the template. */
export interface TaskElement {
  name: string;
  /** All of it, its tags included. */
  xml: string;
  line: number;
  column: number;
}

/** A task and all that is in it, deeply frozen: settings are fixed when the template is parsed. */
export interface Task extends Operator {
  /** The tasks in `<steps>`; always there in a sequential task. */
  steps?: Task[];
  /** What a reduce task does with each input. */
  innerTask?: Task;
  /** What a reduce task does with the results. */
  reductionTask?: Task;
  /** The task that an inner or reduction task consists of. */
  task?: Task;
  /** The elements that mean nothing here, in order. */
  elements?: TaskElement[];
  /** Line of the start tag, from 1. */
  line: number;
  /** Column of the start tag, from 1, in UTF-16 code units. */
  column: number;
  /** Where the task stands in the template: `source.slice(span.start, span.end)` is its XML. */
  span: SourceSpan;
  /** The whole template; of the root only. */
  source?: string;
}

/** A task as `explainTask` takes it: parsed, or made by hand. */
export interface TaskInput extends OperatorInput {
  steps?: TaskInput[];
  innerTask?: TaskInput;
  reductionTask?: TaskInput;
  task?: TaskInput;
  line?: number;
  column?: number;
  /** Not looked at, like the two below: a parsed task has them. */
  span?: SourceSpan;
  elements?: TaskElement[];
  source?: string;
}

/** How strictly a template is read. */
export interface ParseTaskOptions {
  /** `strict`: a required field that a block leaves out is an error, not a warning. Default `compat`. */
  mode?: "compat" | "strict";
  /** Refuse `inherit_context` `full` or `subset` together with `fresh_context` `enabled`. Default false. */
  exclusive?: boolean;
  limits?: Limits;
}

/**
 * A task, and what was found: first about the options, then about the template in its order, each with `line` and `column`.
 */
export interface ParsedTask {
  /** There also with diagnostics of severity `error`, with defaults in place of what is wrong. */
  task: Task;
  diagnostics: Diagnostic[];
}

// ---------------------------------------------------------------------------------------------------------------------
// Explaining
// ---------------------------------------------------------------------------------------------------------------------

/** What is seen, in one word, and why. */
export interface Look<Sees extends string> {
  sees: Sees;
  /** A sentence fragment for people. */
  why: string;
}

/** What one operator of a template will see. */
export interface ExplainedOperator {
  /** Where it is: `task.steps[0].innerTask`. */
  path: string;
  /** How many operators it is within. */
  level: number;
  role: TaskRole;
  type: TaskType;
  /** Its own id, or the one that a step is given: `step-1`. */
  id?: string;
  description?: string;
  line: number;
  column: number;
  contextManagement: ContextManagement;
  origins: Origins;
  /** When the memory system is asked; absent where the template does not say enough. */
  asksMemory?: "always" | "withParentContext" | "never";
  /** What it sees of the context around it. */
  inherited: Look<"all" | "part" | "nothing" | "unknown">;
  /** What it sees of the steps before it. */
  accumulated: Look<"notes" | "outputs" | "nothing">;
  /** What it sees of what the memory system finds. */
  fresh: Look<"matched" | "nothing" | "unknown">;
}

// ---------------------------------------------------------------------------------------------------------------------
// Assembly
// ---------------------------------------------------------------------------------------------------------------------

/** What one step gave. */
export interface StepOutput {
  /** The step's id. */
  step: string;
  output: string;
  /** What is worth knowing of it; what `notes_only` keeps. */
  notes?: string;
}

/** The headings of the memory system's input as one text. */
export interface ContextHeadings {
  /** Default `## Task`. */
  task?: string;
  /** Default `## Inherited Context`. */
  inheritedContext?: string;
  /** Default `## Previous Outputs`. */
  previousOutputs?: string;
}

/** What is to be assembled. */
export interface ContextAssemblyRequest {
  task: OperatorInput;
  /** What the task is about. Default: the task's description. */
  taskText?: string;
  /** The context of the task around it. */
  parentContext?: string;
  /** What the steps before gave, in order. */
  previousOutputs?: StepOutput[];
  /**
   * How `previousOutputs` reach the task, where not its own settings say it but those of the sequence that it is a step
   * of. {@link nextRequest} sets it.
   */
  accumulation?: "off" | "notes_only" | "full_output";
  headings?: ContextHeadings;
  /** Above this many tokens the result carries a warning; nothing else changes. */
  warnTokens?: number;
  /** Above this many tokens the assembly fails with `context_too_long`. */
  maxTokens?: number;
  /** How tokens are counted. Default `heuristic`. */
  tokenizer?: Tokenizer | OwnTokenizer;
  limits?: Limits;
}

/** What the memory system is given. */
export interface ContextGenerationInput {
  taskText: string;
  /** The parent's context, unless the task inherits none. */
  inheritedContext?: string;
  /** What was accumulated, where the task accumulates. */
  previousOutputs?: string;
}

/**
 * What the memory system is asked for: new context, what matters of the parent's context and nothing new, or both.
 */
export type MatchPurpose = "match" | "filter" | "filterAndMatch";

/** What a memory system found: a path, and whatever it says of it. */
export type ContextMatch = [path: string, metadata: unknown];

/** What the memory system answers. */
export interface MemoryAnswer {
  /** What it has to say. Asked for a filter, what matters of the parent's context. */
  context: string;
  /** In an order that nothing here changes. */
  matches: ContextMatch[];
  /** What matters of the parent's context, where the memory system tells it apart from what is new. */
  inherited?: string;
}

/** A context, in its parts and as one text. */
export interface ContextAssembly {
  /** The parts that are there, with a blank line between them: inherited, accumulated, fresh. */
  context: string;
  /** What comes from the parent: all of it, unchanged, or what the memory system gave back. */
  inherited?: string;
  /** What comes from the steps before. */
  accumulated?: string;
  /** What the memory system has found. */
  fresh?: string;
  /** Its matches, as they came. */
  matches: ContextMatch[];
  /** Tokens of `context`, where the request named a tokenizer or a size. */
  tokens?: number;
  /** What was found on the way. */
  diagnostics?: Diagnostic[];
}

/** An assembly that waits for the memory system: plain data, only for `finishContextAssembly`. */
export interface ContextAssemblyState {
  pending: {
    purpose: MatchPurpose;
    inherited?: string;
    accumulated?: string;
    diagnostics?: Diagnostic[];
  };
  sizes?: {
    /** A name, or that of one of the caller's, which {@link FinishContextOptions} have to bring once more. */
    tokenizer?: string | { name: string };
    warnTokens?: number;
    maxTokens?: number;
  };
}

/** The options of `finishContextAssembly`. */
export interface FinishContextOptions {
  /** The tokenizer of the caller's that the assembly was begun with: the state cannot carry it. */
  tokenizer?: Tokenizer | OwnTokenizer;
}

/** The memory system has to be asked. */
export interface ContextMatchRequest {
  status: "match";
  input: ContextGenerationInput;
  /** The same as one text, under headings. */
  text: string;
  purpose: MatchPurpose;
  state: ContextAssemblyState;
}

/** What becomes of a request: a context, or a question to the memory system. */
export type BegunContextAssembly = { status: "ready"; result: ContextAssembly } | ContextMatchRequest;

/**
 * Answers a question. It throws, or its promise rejects, when it fails; it is then asked once more. What it is told
 * besides the input is there for those who want it.
 */
export type MemorySystem = (
  input: ContextGenerationInput,
  about: { text: string; purpose: MatchPurpose } & DriverOptions,
) => MemoryAnswer | Promise<MemoryAnswer>;

// ---------------------------------------------------------------------------------------------------------------------
// Failures
// ---------------------------------------------------------------------------------------------------------------------

/** What is known when a step has failed. */
export interface SequentialFailureInput {
  /** The sequential task; its settings decide whether notes or whole outputs are kept. */
  task: TaskInput;
  /** What the steps before gave, in order. */
  outputs?: StepOutput[];
  /** The id of the step that failed. */
  failedStep: string;
  /** How many steps there are. Default: as many as the task has. */
  totalSteps?: number;
  /** Default `subtask_failure`. */
  reason?: string;
  message?: string;
}

/** The result of a sequential task of which a step has failed. */
export interface SequentialFailure {
  type: "TASK_FAILURE";
  reason: string;
  message: string;
  /** Absent when the sequence's own context could not be assembled. */
  failedStep?: string;
  totalSteps: number;
  notes: {
    /**
     * One for each completed step, in order: its notes, or its output if it has no notes or the sequence accumulates whole
     * outputs.
     */
    partialResults: { step: string; output?: string; notes?: string }[];
  };
}

/** What is known when an inner task or the reduction has failed. */
export interface ReduceFailureInput {
  /** The id of the input that was being processed; absent when the reduction over all results failed. */
  failedInput?: string;
  /** What the inner task gave for the inputs before, in order. */
  outputs?: { input: string; output: string; notes?: string }[];
  totalInputs?: number;
  /** What the reduction has given so far. */
  accumulator?: string;
  /** Default `subtask_failure`. */
  reason?: string;
  message?: string;
}

/** The result of a reduce task in which something has failed. */
export interface ReduceFailure {
  type: "TASK_FAILURE";
  reason: string;
  message: string;
  failedInput?: string;
  /** The ids of the inputs that the inner task is done with, in order. */
  processedInputs: string[];
  totalInputs?: number;
  accumulator?: string;
  notes: {
    /** One for each completed input, in order. */
    partialResults: { input: string; output: string; notes?: string }[];
  };
}

// ---------------------------------------------------------------------------------------------------------------------
// Runs
// ---------------------------------------------------------------------------------------------------------------------

/** What a run begins with. */
export interface RunInput {
  /** A sequential or reduce task. */
  task: TaskInput;
  /** The inputs of a reduce task; one without an id is `input-1` and so on. */
  inputs?: (string | { id?: string; text: string })[];
  /** Whether the reduction runs once, after all results, or after each. Default `all`. */
  reduction?: "all" | "each";
  /** The context of the task around it. */
  parentContext?: string;
  /** The headings of every request. */
  headings?: ContextHeadings;
}

/** The state of a run: plain data, to be kept as one likes. */
export interface Run {
  task: Operator & { steps?: Operator[]; innerTask?: Operator; reductionTask?: Operator };
  inputs?: { id: string; text: string }[];
  reduction?: "each";
  parentContext?: string;
  headings?: Required<ContextHeadings>;
  /** The task's own context, once it is recorded. */
  context?: string;
  /** What the steps, or the inner task for each input, have given. */
  outputs: StepOutput[];
  /** How many of them the reduction has taken in. */
  reduced: number;
  /** What the reduction has given. */
  accumulator?: string;
  failure?: { message: string; reason?: string };
}

/** A run as functions take it: also one that was kept as JSON, or made by hand. */
export interface RunState extends RunInput {
  context?: string;
  outputs?: StepOutput[];
  reduced?: number;
  accumulator?: string;
  failure?: { message: string; reason?: string };
}

/** What comes next in a run. */
export type RunNext =
  /** The task's own context: assemble it and record `{ context }`. */
  | { status: "context"; request: ContextAssemblyRequest }
  /** A step: assemble its context, run it and record `{ output, notes? }`. */
  | { status: "step"; id: string; index: number; total: number; request: ContextAssemblyRequest }
  /** The inner task, on an input. */
  | { status: "inner"; id: string; index: number; total: number; input: string; request: ContextAssemblyRequest }
  /** The reduction, over the results that it has not yet taken in. */
  | {
      status: "reduction";
      request: ContextAssemblyRequest;
      accumulator?: string;
      results: { input: string; output: string; notes?: string }[];
    }
  /** All is done. */
  | { status: "done"; output?: string; outputs: StepOutput[] }
  /** Something has failed. */
  | { status: "failed"; failure: SequentialFailure | ReduceFailure };

/** What came of what came next. */
export type RunResult =
  { context: string } | { output: string; notes?: string } | { error: { message: string; reason?: string } };
