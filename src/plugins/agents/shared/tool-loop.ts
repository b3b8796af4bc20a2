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

/** After this many turns over the limit the tools are withheld. */
const STOPPED_TURNS = 2;

/** The same request with its tools withheld: they stay described, since the conversation may hold calls of them. */
function withoutTools(request: ChatRequest): ChatRequest {
  return request.tools === undefined ? request : { ...request, toolChoice: "none" };
}

/** The conversation of one task with its model: one list of messages that only grows, shared by all requests. */
export class ToolLoop {
  #parts: ToolLoopParts;
  #turns: ToolCallRunner | undefined;
  #toolCallsMade = 0;
  /** Those before the agent that works took over. */
  #earlierToolCalls = 0;
  /** What the agents before the present one added. */
  readonly #earlier: AgentPart[] = [];
  /** The number of messages before the first one of the present agent. */
  #start: number;

  constructor(parts: ToolLoopParts) {
    this.#parts = parts;
    this.#start = parts.messages.length;
  }

  /** Those of the agent that works: a handoff changes them. */
  get parts(): ToolLoopParts {
    return this.#parts;
  }

  /** Tool calls that were executed. */
  get toolCallsMade(): number {
    return this.#earlierToolCalls + this.#toolCallsMade;
  }

  /** What was added so far, by agent. Calls of the last answer may have no result yet. */
  get added(): readonly AgentPart[] {
    const { agent, messages } = this.#parts;
    return [...this.#earlier, { agentRole: agent.role, messages: messages.slice(this.#start) }];
  }

  /** Lets the model call tools until it answers without asking for one. @throws MaxIterationsExceededError when it never does. */
  async answer(): Promise<ChatResponse> {
    const purpose: Purpose = this.#parts.scope.depth > 0 ? "worker" : "task";
    let stopped = 0;
    for (;;) {
      const { messages, request, transfers } = this.#parts;
      const response = await this.#chat(
        stopped < STOPPED_TURNS ? request : withoutTools(request),
        purpose,
      );
      const calls = response.message.toolCalls;
      if (calls === undefined || calls.length === 0) return response;
      if (stopped === STOPPED_TURNS) throw this.#outOfIterations();
      messages.push(response.message);
      if (!(await this.#callTools(transfers?.inOrder(calls) ?? calls, stopped + 1))) stopped++;
      const target = transfers?.take();
      if (target === undefined) continue;
      await this.#handOver(target);
      stopped = 0;
    }
  }

  /** Sends one more message of the user and takes the text that comes back; tools are withheld. */
  async ask(previous: ChatResponse, content: string): Promise<ChatResponse> {
    const { messages, request } = this.#parts;
    // Vendors refuse an empty message, and a request for tools that nothing answers.
    if (previous.message.content !== "")
      messages.push({ role: "assistant", content: previous.message.content });
    messages.push({ role: "user", content });
    return this.#chat(withoutTools(request), "correction");
  }

  /** Goes on with another agent: its instructions, tools, model and options, and the exchange so far. */
  async #handOver({ agent, history = "all" }: NamedHandoff<Agent>): Promise<void> {
    const { scope, texts, prepare } = this.#parts;
    if (prepare === undefined) throw new Error("A loop with transfers prepares the next agent");
    this.#earlier.push(...this.added.slice(this.#earlier.length));
    this.#earlierToolCalls += this.#toolCallsMade;
    this.#toolCallsMade = 0;
    this.#turns = undefined;
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

  /** What ended the call on purpose stays as it is; failures of the model are the agent's. */
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

  /** Answers all calls of a turn, in their order; `false` when the limit left some of them unmade, for the `stop`th time. */
  async #callTools(calls: readonly ToolCall[], stop: number): Promise<boolean> {
    const { agent, messages, scope, texts } = this.#parts;
    const allowed = Math.min(calls.length, agent.maxIterations - this.#toolCallsMade);
    this.#toolCallsMade += allowed;
    const [only] = calls;
    const turns = (this.#turns ??= new ToolCallRunner(this.#parts));
    if (calls.length === 1 && allowed === 1 && only !== undefined)
      messages.push(await turns.callOne(only));
    else if (allowed > 0) messages.push(...(await turns.callAll(calls.slice(0, allowed))));
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
