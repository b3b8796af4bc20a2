import type { ChatRequest, ChatResponse } from "../contracts/chat-model.js";
import type { NewEvent } from "../contracts/events.js";
import type { AgentEnsembleError } from "../contracts/errors.js";
import type { TaskCall } from "../contracts/hooks.js";
import type { TaskOutput } from "../contracts/output.js";
import type { PlannedTask } from "../contracts/plan.js";
import type { TaskMeasures } from "../contracts/run.js";
import type { AnyTask } from "../contracts/task.js";
import type { ChatOptions } from "./chat-gateway.js";
import type { EngineRun } from "./engine-run.js";
import type { RunControl } from "./run-info.js";
import { ValidationError } from "../contracts/errors.js";
import { chat } from "./chat-gateway.js";
import { GatewayScope } from "./task-scope.js";

/** A run as its taps may use it. */
export class ActiveRunControl implements RunControl {
  readonly #run: EngineRun;

  constructor(run: EngineRun) {
    this.#run = run;
  }

  stop(reason: AgentEnsembleError): void {
    this.#run.stop(reason);
  }
  note(taskId: string, measures: TaskMeasures): void {
    this.#run.note(taskId, measures);
  }
  noteTraceId(traceId: string): void {
    this.#run.traceId ??= traceId;
  }
  source(taskId: string): AnyTask | undefined {
    return this.#run.sourceOf(taskId);
  }
  emit(event: NewEvent): void {
    this.#run.emit(event);
  }
  format(value: unknown, text: string): string {
    return this.#run.format(value, text);
  }
  chat(call: TaskCall, request: ChatRequest, o: ChatOptions): Promise<ChatResponse> {
    return chat(this.scopeOf(call), request, o);
  }
  outputs(): readonly TaskOutput[] {
    return this.#run.completed();
  }
  group(taskId: string): PlannedTask["group"] {
    return this.#run.planned(taskId).group;
  }

  /** @throws ValidationError for a task that has not begun. */
  scopeOf({ taskId, signal }: TaskCall): GatewayScope {
    const run = this.#run;
    const record = run.records.findLast((r) => r.taskId === taskId);
    if (record === undefined) throw new ValidationError(`Task '${taskId}' has not begun`);
    const scope = new GatewayScope(
      run,
      record,
      run.cancellationFor(signal),
      0,
      run.indexOf(taskId),
    );
    scope.iterations = (record.calls.at(-1)?.iteration ?? -1) + 1;
    return scope;
  }
}
