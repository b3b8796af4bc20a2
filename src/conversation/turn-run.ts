import type { Agent } from "../contracts/agent.js";
import type { EnsembleEvent } from "../contracts/events.js";
import type { EnsembleOutput } from "../contracts/output.js";
import type { RunOptions } from "../contracts/run.js";
import type { ChatTurn, TurnEnd } from "../plugins/agents/chat/index.js";
import type { ConversationCore } from "./conversation-core.js";
import type { TurnOptions } from "./conversation-options.js";
import type { TurnInput } from "./turn-input.js";
import type { AgentEnsembleError } from "../contracts/errors.js";
import { RunCancelledError } from "../contracts/errors.js";
import { withPartLimits } from "../contracts/attachment.js";
import { Task, type PlainTaskOptions } from "../contracts/task.js";
import { executeRun } from "../engine/run/execute-run.js";
import { follow } from "../engine/run/create-run.js";
import { attach } from "../engine/run/run-step.js";
import { Cancellation } from "../util/abort/cancellation.js";
import type { TurnCancellation } from "./running-turns.js";
import { TURN_TASK } from "./turn-record.js";

/** The options of a turn, and the options of its run. */
export interface TurnPlace {
  readonly runId: string;
  readonly turnOptions: TurnOptions;
  /** The checked options of the turn for its run, with the tags and values of the thread. */
  readonly options: RunOptions;
}

/** The task of the run of a turn. */
export interface TurnTask {
  readonly agent: Agent;
  readonly input: TurnInput;
  readonly turn: ChatTurn;
  /** Receives the events of a turn that is streamed. */
  readonly listen: (event: EnsembleEvent) => void;
  /** Receives the events of every turn, for its quotas. */
  readonly count: ((event: EnsembleEvent) => void) | undefined;
  /** Called in the run when its output is known. Never rejects. */
  readonly end: TurnEnd;
}

/** The run of one turn. */
export class TurnRun {
  readonly #core: ConversationCore;
  readonly #place: TurnPlace;
  readonly #handle = new Cancellation<AgentEnsembleError>();
  /** Receives the events of the run, for a stream. */
  readonly #onEvent: ((event: EnsembleEvent) => void) | undefined;

  constructor(core: ConversationCore, place: TurnPlace, onEvent?: (event: EnsembleEvent) => void) {
    this.#core = core;
    this.#place = place;
    this.#onEvent = onEvent;
  }

  get runId(): string {
    return this.#place.runId;
  }

  cancel(reason: string | undefined, o: Partial<TurnCancellation> = {}): void {
    const message =
      reason === undefined ? "The run was cancelled" : `The run was cancelled: ${reason}`;
    this.#handle.cancel(new RunCancelledError(message, o));
  }

  /** Waits for a promise, until the turn is cancelled. @throws RunCancelledError */
  async whileWaiting<T>(wait: (signal: AbortSignal) => T): Promise<Awaited<T>> {
    const { signal } = this.#place.options;
    if (signal === undefined) return await wait(this.#handle.signal);
    const cancellation = new Cancellation<AgentEnsembleError>();
    follow(cancellation, { runOptions: { signal }, handle: this.#handle });
    try {
      return await wait(cancellation.signal);
    } finally {
      cancellation.dispose();
    }
  }

  /**
   * Executes the task. For a failed run, returns the output that its error contains.
   * @throws errors that occur before the run.
   */
  async execute({ agent, input, turn, listen, count, end }: TurnTask): Promise<EnsembleOutput> {
    const { options, turnOptions } = this.#place;
    const { inputGuardrails, outputGuardrails, memory } = this.#core.taskOptions;
    const taskOptions: PlainTaskOptions<string> = {
      name: TURN_TASK,
      template: false,
      description: input.text,
      agent,
      attachments: input.files,
      modelOptions: turnOptions.modelOptions,
      inputGuardrails,
      outputGuardrails,
      memory,
    };
    const task = new Task(withPartLimits(taskOptions, this.#core.limits));
    this.#core.turns.add(task, turn);
    const forget = this.#core.turns.onEnd(this.runId, end);
    const request = this.#core.requestOf(task, {
      runOptions: options,
      streaming: this.#onEvent !== undefined,
      onEvent: this.#listener(listen, count),
      handle: this.#handle,
    });
    try {
      const output = await executeRun(request);
      if (output.error !== undefined) attach(output.error, output);
      return output;
    } finally {
      forget();
    }
  }

  #listener(listen: TurnTask["listen"], count: TurnTask["count"]): TurnTask["count"] {
    const onEvent = this.#onEvent;
    if (onEvent === undefined) return count;
    return (event) => {
      count?.(event);
      listen(event);
      onEvent(event);
    };
  }
}
