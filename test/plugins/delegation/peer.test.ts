import type { ChatRequest, EnsembleOptions } from "agentensemble";
import { Agent, ExitEarlySignal, reject, Task, tool } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { runToEnd, tapping, untilAborted, type Ended } from "../../support/kernel-fixtures.js";
import { textAt } from "./prompt-text.js";

const lead = new Agent({ role: "Lead", goal: "Lead", allowDelegation: true });
const analyst = new Agent({ role: "Data Analyst", goal: "Analyse" });
const call = (agentRole: unknown, taskDescription: unknown = "Count the owls") => ({
  toolCalls: [{ name: "delegate", arguments: { agentRole, taskDescription } }],
});

interface Led extends Ended {
  readonly lead: ScriptedModel;
  readonly analyst: ScriptedModel;
}

type Script = ConstructorParameters<typeof ScriptedModel>[0];

async function led(
  script: Script,
  answers: Script = ["42"],
  options: EnsembleOptions = {},
): Promise<Led> {
  const models = { lead: new ScriptedModel(script), analyst: new ScriptedModel(answers) };
  const agents = [
    lead.with({ model: models.lead }),
    analyst.with({ model: models.analyst }),
  ] as const;
  const ended = await runToEnd({
    agents: [agents[1]],
    ...options,
    tasks: [new Task({ description: "Report", agent: agents[0] })],
  });
  return { ...ended, ...models };
}

/** The message to the model after its first call of the tool. */
const answered = ({ lead: model }: Led): unknown => model.requests[1]?.messages.at(-1);
const toolsOf = (request: ChatRequest | undefined): readonly string[] =>
  (request?.tools ?? []).map(({ name }) => name);

describe("the tool delegate", () => {
  it("is the first tool of an agent that may delegate, and offers the roles of the others", async () => {
    const noop = tool({ name: "noop", description: "Does nothing", execute: () => "" });
    const model = new ScriptedModel(["done"]);
    await runToEnd({
      model,
      agents: [analyst, new Agent({ role: "Writer", goal: "Write" })],
      tasks: [new Task({ description: "Report", agent: lead.with({ tools: [noop] }) })],
    });
    expect(toolsOf(model.requests[0])).to.deep.equal(["delegate", "noop"]);
    expect(model.requests[0]?.tools?.[0]?.parameters)
      .to.have.nested.property("properties.agentRole.enum")
      .that.deep.equals(["Data Analyst", "Writer"]);
  });

  it("is missing for agents that may not delegate", async () => {
    const model = new ScriptedModel(["done"]);
    await runToEnd({
      model,
      agents: [analyst],
      tasks: [new Task({ description: "Report", agent: lead.with({ allowDelegation: false }) })],
    });
    expect(toolsOf(model.requests[0])).to.deep.equal([]);
  });

  it("returns the worker's own text, for any spelling of its role", async () => {
    const ended = await led([call("  data ANALYST "), "There are 42"]);
    expect(answered(ended)).to.deep.include({ role: "tool", content: "42" });
    expect(ended.analyst.requests[0]?.messages[1]).to.have.property(
      "content",
      "## Task\nCount the owls\n\n## Expected Output\nComplete the assigned subtask thoroughly",
    );
    expect(ended.output.raw).to.equal("There are 42");
    expect(ended.output.taskOutputs.map(({ agentRole }) => agentRole)).to.deep.equal(["Lead"]);
  });

  it("refuses with the specified texts", async () => {
    const cases: readonly (readonly [ReturnType<typeof call>, string])[] = [
      [call(" "), "Error: agentRole must not be null or blank. Provide the target agent's role."],
      [call(null), "Error: agentRole must not be null or blank. Provide the target agent's role."],
      [
        call("Data Analyst", ""),
        "Error: taskDescription must not be null or blank. Provide a clear subtask description.",
      ],
      [call("lead"), "Cannot delegate to yourself (role: 'Lead'). Choose a different agent."],
      [call("Boss"), "Agent not found with role 'Boss'. Available roles: [Data Analyst, Lead]"],
    ];
    for (const [step, text] of cases) {
      const ended = await led([step, "done"], []);
      expect(answered(ended)).to.have.property("content", text);
      const reported = ended.events
        .filter(({ type }) => type.startsWith("delegation_"))
        .map(({ type }) => type);
      expect(reported).to.deep.equal(text.startsWith("Error:") ? [] : ["delegation_failed"]);
    }
  });

  it("checks the depth first, and allows delegation up to that depth", async () => {
    const deep = lead.with({ role: "Deep" });
    const script = (own: string, other: string) => (request: ChatRequest) =>
      textAt(request, 0).startsWith(`You are ${own}`) ? call(other) : call(own);
    const model = new ScriptedModel((request) =>
      request.messages.some(({ role }) => role === "tool")
        ? "done"
        : script("Lead", "Deep")(request),
    );
    await runToEnd({
      model,
      agents: [deep],
      maxDelegationDepth: 2,
      tasks: [new Task({ description: "Report", agent: lead })],
    });
    const told = model.requests.flatMap(({ messages }) =>
      messages.filter(({ role }) => role === "tool").map(({ content }) => content),
    );
    expect(told).to.include(
      "Delegation depth limit reached (max: 2, current: 2). Complete this task yourself without further delegation.",
    );
    expect(model.requests.filter(({ messages }) => messages.length === 2)).to.have.length(3);
  });

  it("reports the reason of a worker's failure", async () => {
    const ended = await led([call("Data Analyst"), "alone then"], [new Error("out of order")]);
    expect(answered(ended)).to.deep.include({
      content: "Error: Agent 'Data Analyst' failed: out of order",
      isError: true,
    });
    expect(ended.output.raw).to.equal("alone then");
  });

  it("passes the text of a policy unchanged, and fails the task if a guard is broken", async () => {
    const tap = (fn: () => ReturnType<typeof reject>): EnsembleOptions => ({
      plugins: [tapping("guard", ({ hooks }) => hooks.beforeDelegation.tap({ name: "guard" }, fn))],
    });
    expect(
      answered(
        await led(
          [call("Data Analyst"), "ok"],
          [],
          tap(() => reject("not today")),
        ),
      ),
    ).to.have.property("content", "not today");
    const broken = await led(
      [call("Data Analyst"), "never"],
      [],
      tap(() => {
        throw new Error("guard is broken");
      }),
    );
    expect(broken.error).to.have.property("code", "AE_TASK_EXECUTION");
    expect(broken.lead.requests).to.have.length(1);
  });

  it("ends with the run: passes on early exit and cancellation", async () => {
    const leaving = tapping("leave", ({ hooks }) =>
      hooks.beforeTask.tap({ name: "leave" }, ({ agent }) => {
        if (agent?.role === "Data Analyst") throw new ExitEarlySignal("enough");
      }),
    );
    expect(
      (await led([call("Data Analyst"), "never"], [], { plugins: [leaving] })).output.exitReason,
    ).to.equal("USER_EXIT_EARLY");

    const controller = new AbortController();
    const waiting = analyst.with({
      tools: [
        tool({
          name: "wait",
          description: "Waits",
          execute: (_input, { signal }) => (controller.abort(), untilAborted(signal)),
        }),
      ],
    });
    const model = new ScriptedModel((request) =>
      toolsOf(request).includes("wait")
        ? { toolCalls: [{ name: "wait", arguments: {} }] }
        : call("Data Analyst"),
    );
    const cancelled = await runToEnd(
      { model, agents: [waiting], tasks: [new Task({ description: "Report", agent: lead })] },
      { signal: controller.signal },
    );
    expect(cancelled.error).to.have.property("code", "AE_RUN_CANCELLED");
    expect(model.requests).to.have.length(2);
  });

  it("counts and traces the worker's usage inside the delegator's task", async () => {
    const { output } = await led([call("Data Analyst"), "done"]);
    expect(
      output.metrics.ledger.map(({ agentRole, purpose }) => [agentRole, purpose]),
    ).to.deep.equal([
      ["Lead", "task"],
      ["Data Analyst", "worker"],
      ["Lead", "task"],
    ]);
    const [trace, ...others] = output.trace.taskTraces;
    expect(others).to.deep.equal([]);
    expect(trace?.delegations[0]?.workerTrace).to.include({
      agentRole: "Data Analyst",
      finalOutput: "42",
    });
  });

  it("has texts that can be replaced", async () => {
    const prompts = { "delegation.tool": "Gib ab", "delegation.expectedOutput": "Gründlich" };
    const ended = await led([call("Data Analyst"), "done"], ["42"], { prompts });
    expect(ended.lead.requests[0]?.tools?.[0]?.description).to.equal("Gib ab");
    expect(textAt(ended.analyst.requests[0], 1)).to.include("Gründlich");
  });
});
