import type { ChatMessage, ChatModel, ChatRequest, EnsembleEvent, Handoffs } from "agentensemble";
import {
  Agent,
  Conversation,
  ConversationStore,
  Ensemble,
  handoff,
  HierarchicalConstraints,
  Task,
  tool,
  ValidationError,
} from "agentensemble";
import { durable, Journal } from "agentensemble/durability";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { keptTrace } from "../../src/cli/kept-trace.js";
import { z } from "zod";
import { rejectionOf } from "../support/rejection.js";

const call = (name: string, args: object = {}): { readonly name: string; arguments: object } => ({
  name,
  arguments: args,
});
const to = (role: string, args?: object): ReturnType<typeof call> =>
  call(`transfer_to_${role}`, args);

const requestAt = (model: ScriptedModel, index: number): ChatRequest => {
  const request = model.requests[index];
  if (request === undefined) throw new Error(`there was no request ${index}`);
  return request;
};
const systemOf = (request: ChatRequest): string => request.messages[0]?.content as string;
const rolesOf = (messages: readonly { readonly role: string }[]): readonly string[] =>
  messages.map(({ role }) => role);

/** Adds a thought to each answer, which names the agent. */
const thinking = (model: ScriptedModel): ChatModel => ({
  provider: model.provider,
  modelId: model.modelId,
  chat: async (request, options) => {
    const response = await model.chat(request, options);
    const role = /You are (.*?)\./.exec(systemOf(request))?.[1] ?? "";
    const { provider, modelId } = model;
    const text = `thought of ${role}`;
    const thought = { type: "reasoning", text, provider, modelId, index: 0 } as const;
    return { ...response, message: { ...response.message, reasoning: [thought] } };
  },
});

const look = tool({ name: "look", description: "Looks something up", execute: () => "found" });
const refund = tool({ name: "refund", description: "Refunds", execute: () => "refunded" });
const billing = new Agent({ role: "Billing", goal: "Settles invoices", tools: [refund] });
const technical: Agent = new Agent({
  role: "Technical",
  goal: "Solves faults",
  handoffs: () => [billing, front],
});
const front: Agent = new Agent({
  role: "Front desk",
  goal: "Finds the right colleague",
  tools: [look],
  handoffs: [handoff(billing, { description: "Invoices and refunds" }), technical],
});

describe("handoffs", () => {
  describe("in a thread", () => {
    it("transfer the current turn and later turns to the other agent", async () => {
      const model = new ScriptedModel([
        { toolCalls: [to("billing", { reason: "an invoice" })] },
        "It is settled.",
        "You are welcome.",
      ]);
      await using desk = new Conversation({ agent: front, model });
      const thread = desk.thread("case-7");
      const { agentRole, messages, text, output } = await thread.send("My invoice is wrong");
      expect([agentRole, text]).to.deep.equal(["Billing", "It is settled."]);
      expect(messages.map(({ role, agentRole: by }) => [role, by])).to.deep.equal([
        ["user", undefined],
        ["assistant", "Front desk"],
        ["tool", "Front desk"],
        ["assistant", "Billing"],
      ]);
      expect(messages[2]).to.include({ content: "Transferred to Billing." });
      expect(output.taskOutputs[0]?.agentRole).to.equal("Billing");
      expect(output.totalToolCalls).to.equal(1);
      const [first, second] = [requestAt(model, 0), requestAt(model, 1)];
      expect(first.tools?.map(({ name, description }) => [name, description])).to.deep.equal([
        ["transfer_to_billing", "Invoices and refunds"],
        [
          "transfer_to_technical",
          "Transfer the conversation to Technical, which then answers. Its goal: Solves faults",
        ],
        ["look", "Looks something up"],
      ]);
      expect(systemOf(second)).to.contain("You are Billing");
      expect(second.tools?.map(({ name }) => name)).to.deep.equal(["refund"]);
      expect(rolesOf(second.messages)).to.deep.equal(["system", "user", "assistant", "tool"]);
      await thread.send("Thanks");
      expect(systemOf(requestAt(model, 2))).to.contain("You are Billing");
      expect(await thread.head()).to.include({ agentRole: "Billing" });
    });

    it("begin each turn with the first agent with nextAgent first", async () => {
      const model = new ScriptedModel([{ toolCalls: [to("billing")] }, "a", "b"]);
      await using desk = new Conversation({ agent: front, model, nextAgent: "first" });
      await desk.thread("t").send("one");
      const { agentRole } = await desk.thread("t").send("two");
      expect(agentRole).to.equal("Front desk");
    });

    it("execute the other calls of the answer first, and refuse a second transfer", async () => {
      const order: string[] = [];
      const slow = tool({
        name: "slow",
        description: "Works",
        execute: () => void order.push("slow"),
      });
      const model = new ScriptedModel([
        { toolCalls: [to("billing"), to("technical"), call("slow", { input: "x" })] },
        "done",
      ]);
      await using desk = new Conversation({ agent: front, model, tools: [slow] });
      const turn = desk.thread("t").stream("Help");
      const failed: string[] = [];
      for await (const event of turn.events) {
        if (event.type === "delegation_started") order.push(event.workerRole);
        if (event.type === "delegation_failed") failed.push(event.reason);
      }
      const { messages, agentRole } = await turn.result;
      expect(agentRole).to.equal("Billing");
      expect(order).to.deep.equal(["slow", "Billing"]);
      const results = messages.flatMap((m) => (m.role === "tool" ? [m] : []));
      expect(results).to.have.length(3);
      expect(results.find(({ toolName }) => toolName === "transfer_to_technical")).to.include({
        isError: true,
        content:
          "Error: The conversation is already being transferred to Billing. One answer can make one transfer.",
      });
      expect(failed).to.have.length(1);
    });

    it("pass through delegation policies with the mode of the request", async () => {
      const asked: unknown[] = [];
      const model = new ScriptedModel([{ toolCalls: [to("billing")] }, "I do it myself."]);
      await using desk = new Conversation({
        agent: front,
        model,
        delegationPolicies: [
          (r, { currentDepth, maxDepth, availableWorkerRoles }) => {
            asked.push(r.mode, `${currentDepth}/${maxDepth}`, ...availableWorkerRoles);
            return { type: "REJECT", reason: "closed today" };
          },
        ],
      });
      const { agentRole, messages } = await desk.thread("t").send("My invoice is wrong");
      expect(agentRole).to.equal("Front desk");
      expect(asked).to.deep.equal(["handoff", "0/5", "Billing", "Technical"]);
      expect(messages[2]).to.include({
        content: "Error: Delegation rejected by policy: closed today",
      });
    });

    it("follow a policy that chooses another agent", async () => {
      const model = new ScriptedModel([{ toolCalls: [to("billing")] }, "done"]);
      await using desk = new Conversation({
        agent: front,
        model,
        delegationPolicies: [
          (request) => ({ type: "MODIFY", request: { ...request, agentRole: "technical" } }),
        ],
      });
      const { agentRole, messages } = await desk.thread("t").send("My invoice is wrong");
      expect(agentRole).to.equal("Technical");
      expect(messages[2]).to.include({ content: "Transferred to Technical." });
    });

    it("in a circle end at maxHandoffs, and the agent answers itself", async () => {
      const ping: Agent = new Agent({ role: "Ping", goal: "Pings", handoffs: () => [pong] });
      const pong: Agent = new Agent({ role: "Pong", goal: "Pongs", handoffs: () => [ping] });
      const model = new ScriptedModel(({ tools = [], messages }) => {
        const last = messages.at(-1);
        if (last?.role === "tool" && last.isError === true) return "I answer.";
        return { toolCalls: [call(tools[0]?.name ?? "")] };
      });
      await using chat = new Conversation({ agent: ping, model, maxHandoffs: 3 });
      const { agentRole, text, messages } = await chat.thread("t").send("Hi");
      expect([agentRole, text]).to.deep.equal(["Pong", "I answer."]);
      expect(messages.at(-2)?.content).to.equal(
        "Error: Transfer limit reached (max: 3). Answer yourself.",
      );
      expect(model.requests).to.have.length(5);
    });

    it("fail at maxIterations if they never end, with an error that omits the user's message", async () => {
      const model = new ScriptedModel(({ tools }) => ({
        toolCalls: [call(tools?.[0]?.name ?? "")],
      }));
      const other: Agent = new Agent({
        role: "Other",
        goal: "g",
        maxIterations: 2,
        handoffs: () => [lone],
      });
      const lone: Agent = new Agent({
        role: "Lone",
        goal: "g",
        maxIterations: 2,
        handoffs: () => [other],
      });
      await using desk = new Conversation({
        agent: lone,
        model,
        maxHandoffs: 1,
        on: () => undefined,
      });
      const { error } = await desk.thread("t").send("PIN 1234", { throwOnError: false });
      expect(error?.message).to.contain("exceeded maximum iterations (2)");
      expect(error?.message).to.not.contain("1234");
    });

    describe("to an agent that no longer exists", () => {
      const BILLING_IS_GONE =
        "The thread was with agent 'Billing', which this conversation does not have: 'Front desk' answers";
      const lone = new Agent({ role: "Front desk", goal: "Finds the right colleague" });

      /** A conversation with a store, and the warnings of its runs. */
      function deskOf(agent: Agent, store: ConversationStore): [Conversation, readonly string[]] {
        const warnings: string[] = [];
        const chat = new Conversation({
          agent,
          model: new ScriptedModel(({ tools = [] }) =>
            tools.some(({ name }) => name === "transfer_to_billing")
              ? { toolCalls: [to("billing")] }
              : "Yes.",
          ),
          store,
          on: (event) => void (event.type === "run_warning" && warnings.push(event.message)),
        });
        return [chat, warnings];
      }

      it("are a warning in the next turn only, and the first agent answers", async () => {
        const sales = new Agent({ role: "Sales", goal: "Sells" });
        for (const agent of [lone.with({ handoffs: [sales] }), lone]) {
          const store = ConversationStore.inMemory();
          const [desk] = deskOf(front, store);
          expect((await desk.thread("t").send("one")).agentRole).to.equal("Billing");
          const [smaller, warnings] = deskOf(agent, store);
          for (const text of ["two", "three"])
            expect((await smaller.thread("t").send(text)).agentRole).to.equal("Front desk");
          expect(warnings).to.deep.equal([BILLING_IS_GONE]);
          await desk.dispose();
          await smaller.dispose();
        }
      });

      it("cause no warning with nextAgent first, or after an agent for one turn", async () => {
        const store = ConversationStore.inMemory();
        const [desk, warnings] = deskOf(lone, store);
        const thread = desk.thread("t");
        await thread.send("one");
        const expert = new Agent({ role: "Expert", goal: "Knows" });
        await thread.send("two", { agent: expert });
        await (await thread.fork()).send("three");
        const { turnId } = await thread.send("three");
        await thread.edit(turnId, "once more").result;
        await desk.dispose();
        await using first = new Conversation({
          agent: lone,
          model: new ScriptedModel(["Yes."]),
          store,
          nextAgent: "first",
          on: (event) => expect(event.type).to.not.equal("run_warning"),
        });
        await first.thread("t").send("four");
        expect(warnings).to.deep.equal([]);
      });
    });

    it("keep the agent of the thread in a fork, after an agent for one turn", async () => {
      const model = new ScriptedModel([{ toolCalls: [to("billing")] }, "a", "b", "c"]);
      await using desk = new Conversation({ agent: front, model });
      const thread = desk.thread("t");
      await thread.send("one");
      await thread.send("two", { agent: new Agent({ role: "Expert", goal: "Knows" }) });
      const fork = await thread.fork();
      expect((await fork.send("three")).agentRole).to.equal("Billing");
    });

    it("keep the agent of the thread in an edit and a part, after an agent for one turn", async () => {
      const expert = new Agent({ role: "Expert", goal: "Knows" });
      const warnings: string[] = [];
      await using desk = new Conversation({
        agent: front,
        model: new ScriptedModel([{ toolCalls: [to("billing")] }, "a", "b", "c", "d", "e", "f"]),
        on: (event) => void (event.type === "run_warning" && warnings.push(event.message)),
      });
      const thread = desk.thread("t");
      const first = await thread.send("one");
      const second = await thread.send("two", { agent: expert });
      const { turnId } = await thread.send("three");
      const part = await thread.fork(second.turnId);
      expect((await part.send("three")).agentRole).to.equal("Billing");
      expect((await thread.edit(turnId).result).agentRole).to.equal("Billing");
      await thread.edit(first.turnId, "one", { agent: expert }).result;
      expect((await thread.head())?.agentRole).to.equal("Front desk");
      expect(warnings).to.deep.equal([]);
    });

    it("of the conversation allow each of its agents to transfer to every other one", async () => {
      const a = new Agent({ role: "A", goal: "a" });
      const b = new Agent({ role: "B", goal: "b" });
      const c = new Agent({ role: "C", goal: "c" });
      const model = new ScriptedModel([{ toolCalls: [to("c")] }, { toolCalls: [to("b")] }, "ok"]);
      await using chat = new Conversation({ agent: a, handoffs: [b, c], model, tools: [look] });
      const { agentRole } = await chat.thread("t").send("Hi");
      expect(agentRole).to.equal("B");
      expect(requestAt(model, 1).tools?.map(({ name }) => name)).to.deep.equal([
        "transfer_to_a",
        "transfer_to_b",
        "look",
      ]);
    });

    it("omit the reasoning of one agent from the prompt of another", async () => {
      const model = new ScriptedModel([
        { toolCalls: [to("technical")] },
        { toolCalls: [to("front_desk")] },
        "done",
      ]);
      await using desk = new Conversation({ agent: front, model: thinking(model) });
      await desk.thread("t").send("Hi");
      const [, second, third] = model.requests.map(({ messages }) => JSON.stringify(messages));
      expect(second).not.to.contain("thought of Front desk");
      expect(third).to.contain("thought of Front desk").and.not.to.contain("thought of Technical");
    });

    it("show only text with history text, and to an agent without tools", async () => {
      const model = new ScriptedModel([
        { text: "One moment.", toolCalls: [call("look", { input: "x" }), to("quiet")] },
        "done",
      ]);
      const quiet = new Agent({ role: "Quiet", goal: "Answers", tools: [refund] });
      const host = front.with({ handoffs: [handoff(quiet, { history: "text" })] });
      await using desk = new Conversation({ agent: host, model });
      const { messages } = await desk.thread("t").send("Hi");
      expect(requestAt(model, 1).messages.slice(1)).to.deep.equal([
        { role: "user", content: "Hi" },
        { role: "assistant", content: "One moment." },
        {
          role: "user",
          content: "[The conversation was transferred to you, Quiet. Go on.]",
        },
      ] satisfies ChatMessage[]);
      expect(rolesOf(messages)).to.deep.equal(["user", "assistant", "tool", "tool", "assistant"]);
    });

    it("do not result from the option agent of one turn", async () => {
      const model = new ScriptedModel(["a", "b"]);
      await using desk = new Conversation({ agent: front, model });
      expect((await desk.thread("t").send("1", { agent: billing })).agentRole).to.equal("Billing");
      expect((await desk.thread("t").send("2")).agentRole).to.equal("Front desk");
    });

    it("of an edited turn start with the agent of the previous turn", async () => {
      const model = new ScriptedModel(["a", { toolCalls: [to("billing")] }, "b", "c"]);
      await using desk = new Conversation({ agent: front, model });
      await desk.thread("t").send("1");
      const { turnId } = await desk.thread("t").send("2");
      const { agentRole } = await desk.thread("t").edit(turnId).result;
      expect(agentRole).to.equal("Front desk");
    });
  });

  describe("in a task", () => {
    it("change the agent of the output, and keep schema and guardrails", async () => {
      const seen: string[] = [];
      const model = new ScriptedModel([{ toolCalls: [to("billing")] }, "no number", '{"n":1}']);
      const events: EnsembleEvent[] = [];
      const output = await new Ensemble({
        model,
        on: (event) => void events.push(event),
        tasks: [
          new Task({
            description: "Count",
            agent: front,
            outputType: z.object({ n: z.number() }),
            outputGuardrails: [({ agentRole }) => (seen.push(agentRole), true)],
          }),
        ],
      }).run();
      expect(output.taskOutputs[0]).to.deep.include({ agentRole: "Billing", parsed: { n: 1 } });
      expect(systemOf(requestAt(model, 1))).to.contain("You are Billing");
      const of = (type: EnsembleEvent["type"]): readonly (string | undefined)[] =>
        events.flatMap((event) =>
          event.type === type && "agentRole" in event ? [event.agentRole] : [],
        );
      expect([of("task_started"), of("task_completed")]).to.deep.equal([
        ["Front desk"],
        ["Billing"],
      ]);
      expect(of("tool_started")).to.deep.equal(of("tool_called"));
      expect(of("llm_iteration_completed")).to.deep.equal(["Front desk", "Billing", "Billing"]);
      const [delegation, ...others] = output.trace.taskTraces[0]?.delegations ?? [];
      expect(others).to.deep.equal([]);
      expect(delegation).to.include({ mode: "handoff", workerRole: "Billing", succeeded: true });
    });

    it("show their agent if durable() restores the task", async () => {
      let fails = true;
      const model = new ScriptedModel([{ toolCalls: [to("billing")] }, "settled"]);
      const last = new Task({
        description: "Last",
        handler: () => {
          if (fails) throw new Error("not today");
          return "done";
        },
      });
      const kept = durable({ journal: Journal.inMemory() });
      await using team = new Ensemble({
        name: "desk",
        model,
        tasks: [new Task({ description: "Settle", agent: front }), last],
        plugins: [kept],
        on: () => undefined,
      });
      await team.run({}, { runId: "r", throwOnError: false });
      fails = false;
      const { taskOutputs } = await team.resume("r");
      expect(taskOutputs.map(({ raw }) => raw)).to.deep.equal(["settled", "done"]);
      expect(taskOutputs[0]?.agentRole).to.equal("Billing");
      expect(model.requests).to.have.length(2);
      const run = (await kept.runs.get("r")) ?? expect.fail("the run is kept");
      const [settled] = keptTrace(run, await kept.runs.entries("r")).tasks;
      expect(settled?.delegations.map(({ mode, from, to }) => [mode, from, to])).to.deep.equal([
        ["handoff", "Front desk", "Billing"],
      ]);
    });

    it("are limited by the ensemble and counted by constraints", async () => {
      const model = new ScriptedModel([{ toolCalls: [to("billing")] }, "alone"]);
      const { raw, taskOutputs } = await new Ensemble({
        model,
        maxHandoffs: 0,
        tasks: [new Task({ description: "Do", agent: front })],
      }).run();
      expect([raw, taskOutputs[0]?.agentRole]).to.deep.equal(["alone", "Front desk"]);
    });

    it("are refused by the constraints of a hierarchical run", async () => {
      const worker = new ScriptedModel([{ toolCalls: [to("billing")] }, "alone"]);
      const managerModel = new ScriptedModel([
        {
          toolCalls: [
            call("delegateTask", { agentRole: "Front desk", taskDescription: "Do", taskNumber: 1 }),
          ],
        },
        "all done",
      ]);
      const reasons: string[] = [];
      await new Ensemble({
        model: worker,
        managerModel,
        workflow: "HIERARCHICAL",
        hierarchicalConstraints: new HierarchicalConstraints({ allowedWorkers: ["Front desk"] }),
        tasks: [new Task({ description: "Do", agent: front })],
        on: (event) => void (event.type === "delegation_failed" && reasons.push(event.reason)),
      }).run();
      expect(reasons).to.deep.equal([
        "Delegation rejected by policy: Agent 'Billing' is not in the allowedWorkers list",
      ]);
    });

    it("count iterations for each agent", async () => {
      const one = front.with({ maxIterations: 1 });
      const model = new ScriptedModel([
        { toolCalls: [to("billing")] },
        { toolCalls: [call("refund", { input: "x" })] },
        "done",
      ]);
      const { raw } = await new Ensemble({
        model,
        tasks: [new Task({ description: "Do", agent: one })],
      }).run();
      expect(raw).to.equal("done");
    });

    it("call the model of the agent that takes over", async () => {
      const [first, second] = [
        new ScriptedModel([{ toolCalls: [to("expert")] }]),
        new ScriptedModel(["by the expert"]),
      ];
      const expert = new Agent({ role: "Expert", goal: "Knows", model: second });
      const { raw, metrics } = await new Ensemble({
        model: first,
        tasks: [new Task({ description: "Do", agent: front.with({ handoffs: [expert] }) })],
      }).run();
      expect(raw).to.equal("by the expert");
      expect(metrics.llmCallCount).to.equal(2);
    });

    it("continue with the last agent after a guardrail's refusal", async () => {
      const model = new ScriptedModel([{ toolCalls: [to("billing")] }, "bad", "good"]);
      const { taskOutputs } = await new Ensemble({
        model,
        tasks: [
          new Task({
            description: "Do",
            agent: front,
            guardrailRetries: 1,
            outputGuardrails: [({ raw }) => ({ ok: raw === "good", reason: "not good" })],
          }),
        ],
      }).run();
      expect(taskOutputs[0]).to.include({ raw: "good", agentRole: "Billing" });
      expect(systemOf(requestAt(model, 2))).to.contain("You are Billing");
    });

    it("show their tools in explain", async () => {
      const ensemble = new Ensemble({
        model: new ScriptedModel([]),
        tasks: [new Task({ description: "Do", agent: front })],
      });
      const { tasks } = await ensemble.explain();
      expect(tasks[0]?.tools).to.deep.equal([
        "transfer_to_billing",
        "transfer_to_technical",
        "look",
      ]);
    });
  });

  describe("refuse at construction", () => {
    const host = (handoffs: Handoffs): Agent => new Agent({ role: "A", goal: "g", handoffs });
    const other = new Agent({ role: "B b", goal: "g" });
    const chatWith = (agent: Agent): Conversation =>
      new Conversation({ agent, model: new ScriptedModel([]) });

    it("an agent that hands off to itself", () => {
      expect(() => host([new Agent({ role: " a", goal: "g" })])).to.throw(
        ValidationError,
        "can't hand off to itself",
      );
      const loop: Agent = host(() => [loop]);
      expect(() => chatWith(loop)).to.throw(ValidationError, "can't hand off to itself");
      expect(() => new Ensemble({ tasks: [new Task({ description: "x", agent: loop })] })).to.throw(
        ValidationError,
        "can't hand off to itself",
      );
    });

    it("roles that lead to the same tool name", () => {
      const twin = new Agent({ role: "B_b", goal: "g" });
      expect(() => host([other, twin])).to.throw(ValidationError, "'transfer_to_b_b'");
      expect(() => host([other, handoff(twin, { toolName: "go" })])).not.to.throw();
    });

    it("an invalid agent, and unknown options", () => {
      expect(() => host(["B" as never])).to.throw(ValidationError, "must be an Agent");
      expect(() => host("B" as never)).to.throw(ValidationError, "must be a list of agents");
      expect(() => handoff({} as never)).to.throw(ValidationError, "needs an Agent");
      expect(() => handoff(other, { toolname: "x" } as never)).to.throw(
        ValidationError,
        "Did you mean 'toolName'",
      );
      expect(() => handoff(other, { toolName: "a b" })).to.throw(ValidationError, "toolName");
      expect(() => handoff(other, { history: "none" as never })).to.throw(ValidationError);
    });

    it("invalid functions of agents of the ensemble's tasks and of its option agents", async () => {
      const odd: Agent = new Agent({ role: "Odd", goal: "g", handoffs: () => [odd] });
      const before = new Agent({ role: "Before", goal: "g", handoffs: [odd] });
      const task = new Task({ description: "Answer", agent: before });
      const problem = "'Odd' can't hand off to itself";
      for (const options of [{ tasks: [task] }, { agents: [before] }, { agents: [odd] }])
        expect(() => new Ensemble(options)).to.throw(ValidationError, problem);
      await using shared = new Ensemble({ name: "desk", shareTasks: { answer: task } });
      const error = await rejectionOf(ValidationError, shared.start({ signals: false }));
      expect(error.message).to.contain(problem);
    });

    it("two agents of a conversation with the same role", () => {
      const b1 = new Agent({ role: "B", goal: "1", handoffs: () => [c] });
      const c: Agent = new Agent({
        role: "C",
        goal: "g",
        handoffs: [new Agent({ role: "b", goal: "2" })],
      });
      expect(() => chatWith(host([b1]))).to.throw(ValidationError, "have the role 'b'");
    });
  });
});
