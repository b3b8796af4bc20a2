import type { Agent } from "../../../contracts/agent.js";
import type { ChatMessage } from "../../../contracts/chat-model.js";
import type { ExecutorResult, TaskExecutor } from "../../../contracts/executors.js";
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
import { ToolLoop } from "../shared/tool-loop.js";
import { ToolSpecs, toolsOf } from "../shared/tool-resolution.js";
import { messagesOf } from "./chat-messages.js";
import { summarizeTurns } from "./summarize.js";

type Texts = PromptTexts<AgentTemplateName>;

/** The executor of the turns of conversations: instructions, the thread, the user's message as it is, then the tool loop. */
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
    const texts = this.#library.textsOf(scope.all(Tokens.PromptTemplates));
    const tools = await toolsOf(agent, call, scope);
    const systemPrompt = instructionsOf(agent, call, texts);
    const specs = this.#specs.of(tools, texts);
    const seen = await turn.see({
      scope,
      summarize: (request) => summarizeTurns(request, scope, texts),
    });
    const messages: ChatMessage[] = [
      { role: "system", content: systemPrompt },
      ...messagesOf(seen, texts, { withTools: tools.length > 0, agentRole: agent.role }),
      { role: "user", content: turn.content },
      ...revisionOf(call),
    ];
    const preview = { systemPrompt, userPrompt: call.task.description, tools: specs };
    announceInput(call, agent, preview, scope);
    const request = requestOf(messages, preview, modelOptionsOf(agent, call), undefined);
    const loop = new ToolLoop({ call, agent, scope, texts, tools, messages, request });
    const start = messages.length;
    turn.progress.added = () => messages.slice(start);
    const response = await loop.answer();
    const text = response.message.content;
    if (text.trim() === "") warnOfSilence(call, agent, scope);
    messages.push(response.message);
    turn.progress.finishReason = response.finishReason;
    return { raw: text, toolCallCount: loop.toolCallsMade };
  }

  #turnOf({ task }: TaskCall): ChatTurn {
    const turn = this.#turns.of(task);
    if (turn === undefined)
      throw new ValidationError(`Task '${task.description}' is not the turn of a conversation`);
    return turn;
  }
}

/** The system message: who the agent is, and what its memory holds. */
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

/** What a refused answer was, and why it was refused: seen by this attempt only. */
function revisionOf({ revision }: TaskCall): ChatMessage[] {
  if (revision === undefined) return [];
  const { previousOutput = "", feedback } = revision;
  const answer: ChatMessage[] =
    previousOutput === "" ? [] : [{ role: "assistant", content: previousOutput }];
  return [...answer, { role: "user", content: feedback }];
}
