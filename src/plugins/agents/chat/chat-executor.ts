import type { Agent } from "../../../contracts/agent.js";
import type { ChatMessage } from "../../../contracts/chat-model.js";
import type { ExecutorResult, PromptPreview, TaskExecutor } from "../../../contracts/executors.js";
import type { TaskCall } from "../../../contracts/hooks.js";
import type { PlannedTask } from "../../../contracts/plan.js";
import type { TaskScope } from "../../../contracts/run.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { AgentTemplateName } from "../shared/agent-prompts.js";
import type { ChatTurn, ChatTurns } from "./chat-turn.js";
import { ValidationError } from "../../../contracts/errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { PromptLibrary } from "../../shared/prompts/prompt-library.js";
import { Schemas } from "../../shared/schemas.js";
import { AGENT_TEMPLATES } from "../shared/agent-prompts.js";
import { agentTexts } from "../shared/prompt-builder.js";
import {
  agentOf,
  announceInput,
  modelOptionsOf,
  requestOf,
  warnOfSilence,
} from "../shared/task-request.js";
import type { NextAgent } from "../shared/tool-loop-parts.js";
import { taskFieldsOf } from "../shared/tool-loop-parts.js";
import { ToolLoop } from "../shared/tool-loop.js";
import { ToolSpecs, toolsOf } from "../shared/tool-resolution.js";
import { Transfers } from "../shared/transfers.js";
import { messagesOf } from "./chat-messages.js";
import { summarizeTurns } from "./summarize.js";

/** The values of an agent that the loop uses, with its first prompt. */
interface PreparedAgent extends NextAgent {
  readonly preview: PromptPreview;
  /** A new list for each preparation. */
  readonly head: ChatMessage[];
}

type Texts = PromptTexts<AgentTemplateName>;

/**
 * Executes the turns of conversations. The prompt consists of the instructions, the thread and the
 * unchanged message of the user. The tool loop follows.
 */
export class ChatExecutor implements TaskExecutor {
  readonly name = "chat";
  readonly #turns: ChatTurns;
  readonly #library = new PromptLibrary(AGENT_TEMPLATES);
  readonly #specs = new ToolSpecs(new Schemas());

  constructor(turns: ChatTurns) {
    this.#turns = turns;
  }

  handles({ task }: PlannedTask): boolean {
    return this.#turns.of(task) !== undefined;
  }

  async execute(call: TaskCall, scope: TaskScope): Promise<ExecutorResult> {
    const turn = this.#turnOf(call);
    const agent = agentOf(call);
    if (call.attempt === 1) announceTurn(turn, scope);
    const texts = this.#library.textsOf(scope.all(Tokens.PromptTemplates), scope.run);
    const transfers = Transfers.of(agent, texts, scope.run.options);
    const window = await turn.readWindow({
      scope,
      summarize: (request) => summarizeTurns(request, scope, texts),
    });
    const prepare = async (next: Agent, history: "all" | "text"): Promise<PreparedAgent> => {
      const own = next === agent ? call : { ...call, agent: next };
      const tools = await toolsOf(next, own, scope, transfers?.toolsOf(next));
      const systemPrompt = instructionsOf(next, call, texts);
      const withTools = tools.length > 0 && history === "all";
      const preview = {
        systemPrompt,
        userPrompt: call.task.description,
        tools: this.#specs.of(tools, texts),
      };
      return {
        tools,
        preview,
        head: [
          { role: "system", content: systemPrompt },
          ...messagesOf(window, texts, { withTools, agentRole: next.role }),
          { role: "user", content: turn.content },
          ...revisionOf(call),
        ],
        requestFor: (all) => requestOf(all, preview, modelOptionsOf(next, call), undefined),
      };
    };
    const { tools, preview, head: messages, requestFor } = await prepare(agent, "all");
    announceInput(call, agent, preview, scope);
    const request = requestFor(messages);
    const parts = { call, agent, scope, texts, tools, messages, request };
    const loop = new ToolLoop(transfers === undefined ? parts : { ...parts, transfers, prepare });
    turn.progress.added = () => loop.added;
    const response = await loop.answer();
    const text = response.message.content;
    if (text.trim() === "") warnOfSilence(call, loop.parts.agent, scope);
    loop.parts.messages.push(response.message);
    turn.progress.finishReason = response.finishReason;
    await turn.keep(scope.run, call);
    return { raw: text, toolCallCount: loop.toolCallsMade };
  }

  #turnOf({ task }: TaskCall): ChatTurn {
    const turn = this.#turns.of(task);
    if (turn === undefined)
      throw new ValidationError(`Task '${task.description}' is not the turn of a conversation`);
    return turn;
  }
}

function announceTurn({ threadId, messageId, warning }: ChatTurn, scope: TaskScope): void {
  if (scope.listens("turn_started"))
    scope.emit({ type: "turn_started", ...taskFieldsOf(scope), threadId, messageId });
  if (warning !== undefined) scope.run.warn(warning);
}

/** The system message: the description of the agent and the contents of its memory. */
function instructionsOf(agent: Agent, call: TaskCall, texts: Texts): string {
  const { goal, background } = agentTexts(agent, call.run.inputs);
  const memory = call.promptSections.map(({ text }) => text.trim()).filter((text) => text !== "");
  const { responseFormat } = agent;
  const optional = (name: AgentTemplateName, key: string, text: string | undefined): string =>
    text === undefined || text.trim() === "" ? "" : texts.render(name, { [key]: text });
  return texts.render("conversation.instructions", {
    role: agent.role,
    goal,
    background: optional("agent.background", "background", background),
    responseFormat: optional("agent.responseFormat", "responseFormat", responseFormat),
    memory: optional("conversation.memory", "memory", memory.join("\n\n")),
  });
}

/**
 * Returns the messages for a refused answer and the reason of its refusal. Only the current attempt
 * has them in its prompt.
 */
function revisionOf({ revision }: TaskCall): ChatMessage[] {
  if (revision === undefined) return [];
  const { previousOutput = "", feedback } = revision;
  const answer: ChatMessage[] =
    previousOutput === "" ? [] : [{ role: "assistant", content: previousOutput }];
  return [...answer, { role: "user", content: feedback }];
}
