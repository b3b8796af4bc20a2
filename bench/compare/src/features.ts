// Uses the names in the table of features of docs/comparison.md. Compiled with the versions of the
// lock file, and not run.
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { interrupt, MemorySaver, StateGraph } from "@langchain/langgraph";
import { Agent as MastraAgent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { createWorkflow } from "@mastra/core/workflows";
import {
  Agent as OpenAIAgent,
  handoff,
  run,
  RunState,
  tool as openaiTool,
  type Model,
} from "@openai/agents";
import { Agent, Conversation, Ensemble, Task, tool as ownTool } from "agentensemble";
import { durable } from "agentensemble/durability";
import { recordTo, replayFrom } from "agentensemble/replay";
import { budget } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { isStepCount, Output, tool as aiTool, ToolLoopAgent } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import {
  createAgent,
  humanInTheLoopMiddleware,
  modelCallLimitMiddleware,
  providerStrategy,
  tool as langchainTool,
} from "langchain";
import { z } from "zod";
import { Item, MODEL, priceOf, Total } from "./prices.js";

const description = "The price of one item";
const name = "look_up_price";

export function ofAgentEnsemble() {
  const model = new ScriptedModel(["1"]);
  const lookUp = ownTool({
    name,
    description,
    input: Item,
    requireApproval: true,
    execute: ({ item }) => priceOf(item),
  });
  const lead = new Agent({
    role: "Lead",
    goal: "Leads",
    tools: [lookUp],
    maxIterations: 10,
    allowDelegation: true,
  });
  const helper = new Agent({ role: "Helper", goal: "Helps", handoffs: [lead] });
  const tasks = [new Task({ description: "Total", agent: lead, outputType: Total })];
  const plugins = [
    durable({ url: "file:runs" }),
    budget({ maxTokens: 1_000 }),
    recordTo("run.jsonl"),
    replayFrom("run.jsonl"),
  ];
  const chat = new Conversation({ agent: helper, model });
  return { team: new Ensemble({ model, tasks, workflow: "HIERARCHICAL", plugins }), chat };
}

export function ofTheAiSdk() {
  const model = new MockLanguageModelV4();
  const lookUp = aiTool({
    description,
    inputSchema: Item,
    needsApproval: true,
    execute: async ({ item }) => priceOf(item),
  });
  const output = Output.object({ schema: Total });
  const clerk = new ToolLoopAgent({
    model,
    output,
    tools: { lookUp },
    stopWhen: isStepCount(10),
  });
  const ask = aiTool({
    description,
    inputSchema: Item,
    execute: ({ item }) => clerk.generate({ prompt: item }),
  });
  return new ToolLoopAgent({ model, tools: { ask } });
}

export function ofLangGraph() {
  const model = new FakeListChatModel({ responses: ["1"] });
  const lookUp = langchainTool(({ item }) => priceOf(item), { name, description, schema: Item });
  const clerk = createAgent({
    model,
    tools: [lookUp],
    responseFormat: providerStrategy(Total),
    middleware: [
      humanInTheLoopMiddleware({ interruptOn: { [name]: true } }),
      modelCallLimitMiddleware({ runLimit: 10 }),
    ],
  });
  const graph = new StateGraph(z.object({ euros: z.number() }))
    .addNode("ask", () => ({ euros: interrupt<string, number>("How much?") }))
    .addEdge("__start__", "ask")
    .compile({ checkpointer: new MemorySaver() });
  return { clerk, graph };
}

export function ofMastra() {
  const lookUp = createTool({
    id: name,
    description,
    inputSchema: Item,
    requireApproval: true,
    execute: async ({ item }) => priceOf(item),
  });
  const clerk = new MastraAgent({
    id: "clerk",
    name: "Clerk",
    instructions: "Calculates",
    model: `openai/${MODEL}`,
    tools: { lookUp },
  });
  const lead = new MastraAgent({
    id: "lead",
    name: "Lead",
    instructions: "Leads",
    model: `openai/${MODEL}`,
    agents: { clerk },
  });
  const workflow = createWorkflow({ id: "order", inputSchema: Item, outputSchema: Total });
  new Mastra({ agents: { lead }, workflows: { workflow }, storage: new InMemoryStore() });
  return clerk.generate("x", { structuredOutput: { schema: Total }, maxSteps: 10 });
}

export async function ofOpenAIAgents(text: string, model: Model) {
  const lookUp = openaiTool({
    name,
    description,
    parameters: Item,
    needsApproval: true,
    execute: async ({ item }) => priceOf(item),
  });
  const clerk = new OpenAIAgent({ name: "Clerk", model, tools: [lookUp], outputType: Total });
  const desk = new OpenAIAgent({
    name: "Desk",
    handoffs: [handoff(clerk)],
    tools: [clerk.asTool({})],
  });
  return run(desk, await RunState.fromString(desk, text), { maxTurns: 10 });
}
