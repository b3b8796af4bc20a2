import type {
  ChatRequest,
  ChatResponse,
  Purpose,
  ToolCall,
} from "../../../contracts/chat-model.js";
import type { Agent } from "../../../contracts/agent.js";
import type { NamedHandoff } from "../../../contracts/handoff-list.js";
import type { AgentPart } from "./exchange.js";
import type { ToolLoopParts } from "./tool-loop-parts.js";
import {
  AgentEnsembleError,
  AgentExecutionError,
  MaxIterationsExceededError,
  ModelCallError,
} from "../../../contracts/errors.js";
import { taskLabel } from "../../../contracts/task-label.js";
import { exchangeFor } from "./exchange.js";
import { taskFieldsOf } from "./tool-loop-parts.js";
import { PartialOutputEmitter } from "./partial-output-emitter.js";
import { ToolCallRunner } from "./tool-call-runner.js";
import { messageOf } from "../../../util/errors.js";

/**
 * The number of turns over the limit whose skipped calls receive a stop message. Later requests
 * disable the tools. A response that still has tool calls is one turn more, and throws.
 */
const STOPPED_TURNS = 2;

/**
 * Returns the request with tools disabled. The request still describes the tools, because the
 * conversation may contain calls of them.
 */
function withoutTools(request: ChatRequest): ChatRequest {
  return request.tools === undefined ? request : { ...request, toolChoice: "none" };
}

/**
 * The conversation of one task with its model. All requests share one append-only list of messages.
 */
export class ToolLoop {
  #parts: ToolLoopParts;
  /** Executes the calls of the current agent. Created at its first call. */
  #runner: ToolCallRunner | undefined;
  #toolCallsMade = 0;
  /** The number of tool calls before the current agent took over. */
  #earlierToolCalls = 0;
  /** The messages that earlier agents added. */
  readonly #earlier: AgentPart[] = [];
  /** The number of messages before the first message of the current agent. */
  #start: number;

  constructor(parts: ToolLoopParts) {
    this.#parts = parts;
    this.#start = parts.messages.length;
  }

  /** The parts of the current agent. A handoff changes them. */
  get parts(): ToolLoopParts {
    return this.#parts;
  }

  /**
   * The number of tool calls within the limit, of all agents. Includes calls of unknown tools,
   * refused calls and failed calls.
   */
  get toolCallsMade(): number {
    return this.#earlierToolCalls + this.#toolCallsMade;
  }

  /**
   * The messages that the task has added so far, by agent. Calls of the last answer may have no
   * result yet.
   */
  get added(): readonly AgentPart[] {
    const { agent, messages } = this.#parts;
    return [...this.#earlier, { agentRole: agent.role, messages: messages.slice(this.#start) }];
  }

  /**
   * Calls the model and its tools until a response has no tool calls.
   * @throws MaxIterationsExceededError if the model exceeds the limit of tool calls several times.
   */
  async answer(): Promise<ChatResponse> {
    const purpose: Purpose = this.#parts.scope.depth > 0 ? "worker" : "task";
    let turnsOverLimit = 0;
    for (;;) {
      const { messages, request, transfers } = this.#parts;
      const response = await this.#chat(
        turnsOverLimit < STOPPED_TURNS ? request : withoutTools(request),
        purpose,
      );
      const calls = response.message.toolCalls;
      if (calls === undefined || calls.length === 0) return response;
      if (turnsOverLimit === STOPPED_TURNS) throw this.#outOfIterations();
      messages.push(response.message);
      const ordered = transfers?.inOrder(calls) ?? calls;
      if (!(await this.#callTools(ordered, turnsOverLimit + 1))) turnsOverLimit++;
      const target = transfers?.take();
      if (target === undefined) continue;
      await this.#handOver(target);
      turnsOverLimit = 0;
    }
  }

  /** Sends another user message with tools disabled. Returns the response. */
  async ask(previous: ChatResponse, content: string): Promise<ChatResponse> {
    const { messages, request } = this.#parts;
    // Vendors refuse an empty message, and tool calls without results.
    if (previous.message.content !== "")
      messages.push({ role: "assistant", content: previous.message.content });
    messages.push({ role: "user", content });
    return this.#chat(withoutTools(request), "correction");
  }

  /**
   * Continues with another agent, with its instructions, tools, model and options. Its messages
   * contain the exchange so far.
   */
  async #handOver({ agent, history = "all" }: NamedHandoff<Agent>): Promise<void> {
    const { scope, texts, prepare } = this.#parts;
    if (prepare === undefined) throw new Error("A loop with transfers prepares the next agent");
    this.#earlier.push(...this.added.slice(this.#earlier.length));
    this.#earlierToolCalls += this.#toolCallsMade;
    this.#toolCallsMade = 0;
    this.#runner = undefined;
    scope.handOver(agent);
    const { tools, head, requestFor } = await prepare(agent, history);
    const reader = { agentRole: agent.role, withTools: tools.length > 0 && history === "all" };
    const messages = [...head, ...exchangeFor(this.#earlier, reader, texts)];
    this.#start = messages.length;
    this.#parts = { ...this.#parts, agent, tools, messages, request: requestFor(messages) };
  }

  async #chat(request: ChatRequest, purpose: Purpose): Promise<ChatResponse> {
    const { call, scope } = this.#parts;
    const partial = PartialOutputEmitter.wanted(call, scope)
      ? await PartialOutputEmitter.of(call, scope)
      : undefined;
    try {
      return await scope.chat(
        request,
        partial === undefined ? { purpose } : { purpose, onToken: (text) => partial.add(text) },
      );
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /**
   * Wraps a failure of the model in an AgentExecutionError. Returns other errors of the framework
   * and stop reasons unchanged.
   */
  #failure(error: unknown): unknown {
    const { agent, call, scope } = this.#parts;
    if (AgentEnsembleError.isInstance(error) && !ModelCallError.isInstance(error)) return error;
    if (scope.signal.aborted && error === scope.signal.reason) return error;
    const context = { agentRole: agent.role, taskDescription: call.task.description };
    return new AgentExecutionError(`Agent '${agent.role}' failed: ${messageOf(error)}`, context, {
      cause: error,
    });
  }

  #reportLimit(stop: number): void {
    const { agent, scope } = this.#parts;
    const { role, maxIterations: max } = agent;
    if (scope.listens("iteration_limit_reached"))
      scope.emit({ type: "iteration_limit_reached", ...taskFieldsOf(scope), max, stop });
    // The turn that throws counts as the last one: (1/3), (2/3).
    const message = `Agent '${role}' exceeded max iterations (${max}). Stop message sent (${stop}/${STOPPED_TURNS + 1}).`;
    scope.emit({ type: "run_warning", message });
  }

  #outOfIterations(): MaxIterationsExceededError {
    const { agent, call } = this.#parts;
    const { role: agentRole, maxIterations } = agent;
    return new MaxIterationsExceededError({
      agentRole,
      taskDescription: call.task.description,
      taskLabel: taskLabel(call.task),
      maxIterations,
      toolCallsMade: this.#toolCallsMade,
    });
  }

  /**
   * Appends the results of all calls of a turn, in order. Returns false if the limit skipped a
   * call. `stop` is the number of turns over the limit, including this turn.
   */
  async #callTools(calls: readonly ToolCall[], stop: number): Promise<boolean> {
    const { agent, messages, scope, texts } = this.#parts;
    const allowed = Math.min(calls.length, agent.maxIterations - this.#toolCallsMade);
    this.#toolCallsMade += allowed;
    const [only] = calls;
    const runner = (this.#runner ??= new ToolCallRunner(this.#parts));
    if (calls.length === 1 && allowed === 1 && only !== undefined)
      messages.push(await runner.callOne(only));
    else if (allowed > 0) messages.push(...(await runner.callAll(calls.slice(0, allowed))));
    if (allowed === calls.length) return true;
    this.#reportLimit(stop);
    const content = texts.render("agent.stop", { maxIterations: agent.maxIterations });
    for (const call of calls.slice(allowed)) {
      scope.skipTool(call, content);
      messages.push({
        role: "tool",
        toolCallId: call.id,
        toolName: call.name,
        content,
        isError: true,
      });
    }
    return false;
  }
}
