import type { Agent, ChatRequest } from "agentensemble";
import { ExitEarlySignal, GuardrailResult, Task, tool } from "agentensemble";
import { expect } from "chai";
import { z } from "zod";
import { tapping, untilAborted } from "../../../support/kernel-fixtures.js";
import { delegateTask, lead, researcher, roleIn, textAt, told, writer } from "./fixtures.js";

const facts = Task.of("Find facts about owls", "Three facts");
const agents = [researcher, writer];
const promptOf = (request: ChatRequest | undefined): string => textAt(request, 1);

describe("HIERARCHICAL", () => {
  it("describes the team and its tasks to the manager", async () => {
    const { manager } = await lead(["done"], { agents, tasks: [facts, Task.of("Write a poem")] });
    const [request] = manager.requests;
    expect(request?.messages[0]?.content).to.equal(
      "You are Manager.\nYou have access to the following worker agents:\n\n1. Researcher\n   Goal: Find facts\n\n2. Writer\n   Goal: Write\n   Background: A poet\n\n" +
        "Use the delegateTask tool to assign work to your team members. Review their outputs and synthesize a comprehensive final result.\n\n" +
        "Your personal goal is: Coordinate worker agents to complete all tasks and synthesize a comprehensive final result\n\n" +
        "You must produce a final answer that satisfies the expected output described in the task.\nFocus on quality and accuracy. Do not add unnecessary preamble or postscript to your final answer.",
    );
    expect(promptOf(request)).to.equal(
      "## Task\nYou must coordinate your team to complete the following tasks:\n\nTask 1: Find facts about owls\nExpected output: Three facts\n\n" +
        "Task 2: Write a poem\nExpected output: Produce a complete and accurate response to the task.\n\n" +
        "Delegate each task to the most appropriate team member using the delegateTask tool. Once all tasks are complete, synthesize the results into a comprehensive final response.\n\n" +
        "## Expected Output\nA comprehensive final response synthesizing the outputs of all delegated tasks",
    );
    expect(request?.tools?.map(({ name }) => name)).to.deep.equal(["delegateTask"]);
  });

  it("executes listed tasks by number, subtasks by description, and ends with the manager's answer", async () => {
    const poem = new Task({ description: "Write a poem", context: [facts] });
    const script = [
      delegateTask({ agentRole: "researcher", taskNumber: 1 }),
      delegateTask(
        { agentRole: "Researcher", taskDescription: "Check {facts}" },
        { agentRole: " WRITER ", taskNumber: "2" },
      ),
      "All done",
    ];
    const ended = await lead(script, { agents, tasks: [facts, poem] });
    expect(ended.output.raw).to.equal("All done");
    expect(
      ended.output.taskOutputs.map(({ taskId, agentRole }) => [taskId, agentRole]),
    ).to.deep.equal([
      ["task-1", "Researcher"],
      ["task-3.1", "Researcher"],
      ["task-2", "Writer"],
      ["task-3", "Manager"],
    ]);
    expect(ended.output.getOutput(poem)?.raw).to.match(/^Writer/);
    const prompts = ended.workers.requests.map(promptOf);
    expect(prompts).to.include(
      "## Task\nCheck {facts}\n\n## Expected Output\nComplete the assigned task thoroughly",
    );
    expect(prompts.find((text) => text.includes("Write a poem"))).to.include("Researcher 1");
    expect(told(ended)).to.deep.equal([
      "Researcher 1\n\n[Listed tasks done: 1. Still open: 2.]",
      `${ended.output.taskOutputs[1]?.raw}\n\n[Listed tasks done: 1. Still open: 2.]`,
      `${ended.output.taskOutputs[2]?.raw}\n\n[Listed tasks done: 1, 2. Still open: none.]`,
    ]);
  });

  it("applies all settings of a listed task", async () => {
    const strict = new Task({
      description: "Say a number",
      outputGuardrails: [({ raw }) => (raw === "7" ? true : GuardrailResult.failure("not seven"))],
      guardrailRetries: 1,
    });
    const answers = ["6", "7"];
    const ended = await lead(
      [delegateTask({ agentRole: "Writer", taskNumber: 1 }), "7 it is"],
      { agents, tasks: [strict] },
      () => answers.shift() ?? "",
    );
    expect(ended.output.getOutput(strict)?.raw).to.equal("7");
    expect(promptOf(ended.workers.requests[1])).to.include("not seven");
  });

  it("reads a listed task's value by its schema, including corrections", async () => {
    const count = new Task({ description: "Count", outputType: z.object({ n: z.number() }) });
    const answers = ["many", '{"n": 4}'];
    const ended = await lead(
      [delegateTask({ agentRole: "Writer", taskNumber: 1 }), "done"],
      { agents, tasks: [count] },
      () => answers.shift() ?? "",
    );
    expect(ended.output.getOutput(count)?.parsed).to.deep.equal({ n: 4 });
    expect(ended.output.metrics.ledger.map(({ purpose }) => purpose)).to.deep.equal([
      "manager",
      "worker",
      "correction",
      "manager",
    ]);
  });

  it("allows the manager to repeat a listed task, with its text as feedback", async () => {
    const script = [
      delegateTask({ agentRole: "Writer", taskNumber: 1 }),
      delegateTask({ agentRole: "Writer", taskNumber: 1, taskDescription: "Name the sources" }),
      "done",
    ];
    const { output, events, workers } = await lead(script, { agents, tasks: [facts] });
    expect(promptOf(workers.requests[1])).to.include("Name the sources").and.to.include("Writer 1");
    expect(output.getOutput(facts)?.raw).to.equal("Writer 2");
    expect(
      output.trace.taskTraces
        .filter(({ parentTaskId }) => parentTaskId !== undefined)
        .map(({ attempt }) => attempt),
    ).to.deep.equal([1, 2]);
    expect(events.filter(({ type }) => type === "delegation_completed")).to.have.length(2);
  });

  it("names the problem of an assignment with the specified texts", async () => {
    const poem = new Task({ description: "Write a poem", context: [facts] });
    const script = [
      delegateTask(
        { agentRole: " " },
        { agentRole: "Writer", taskDescription: null },
        { agentRole: "Writer", taskNumber: 3 },
        { agentRole: "Writer", taskNumber: 2 },
      ),
      delegateTask({ agentRole: "Boss" }, { agentRole: "manager" }),
      "I give up",
    ];
    const ended = await lead(script, { agents, tasks: [facts, poem] });
    expect(told(ended)).to.deep.equal([
      "Error: agentRole must not be null or blank.",
      "Error: taskDescription must not be null or blank.",
      "Error: taskNumber must be a number from 1 to 2, got: 3. Omit it for a subtask that is not listed.",
      "Error: Task 2 builds on the results of listed tasks that are not done yet: 1. Delegate those first, with their taskNumber.",
      "No agent found with role 'Boss'. Available roles: [Researcher, Writer]",
      "No agent found with role 'manager'. Available roles: [Researcher, Writer]",
    ]);
    expect(
      ended.events.flatMap((e) => (e.type === "delegation_failed" ? [e.reason.slice(0, 15)] : [])),
    ).to.deep.equal(["Task 2 builds o", "Agent not found", "Cannot delegate"]);
    expect(ended.output.metrics).to.include({ delegationCount: 0, refusedDelegationCount: 3 });
    expect(ended.workers.requests).to.have.length(0);
    expect(ended.output.taskOutputs.map(({ agentRole }) => agentRole)).to.deep.equal(["Manager"]);
  });

  it("reports the failure of a worker to the manager, and continues", async () => {
    const script = [
      delegateTask({ agentRole: "Writer", taskNumber: 1 }),
      delegateTask({ agentRole: "Researcher", taskNumber: 1 }),
      "done",
    ];
    const ended = await lead(script, { agents, tasks: [facts] }, (request) =>
      roleIn(request) === "Writer" ? new Error("no ink") : "three facts",
    );
    expect(told(ended)[0]).to.equal(
      "Error: Agent 'Writer' failed: no ink\n\n[Listed tasks done: none. Still open: 1.]",
    );
    expect(ended.output.getOutput(facts)?.raw).to.equal("three facts");
    expect(ended.output.isComplete).to.equal(true);
  });

  it("stops a manager that delegates forever", async () => {
    const more = delegateTask({ agentRole: "Writer" });
    const ended = await lead([more, more, more, more, more], {
      agents,
      tasks: [facts],
      managerMaxIterations: 2,
    });
    expect(ended.error?.message).to.match(
      /^Hierarchical workflow manager failed: Agent 'Manager' exceeded maximum iterations \(2\)/,
    );
    expect(ended.error).to.have.property("completedTaskOutputs").with.length(2);
    expect(ended.error?.cause).to.have.property("code", "AE_MAX_ITERATIONS");
    expect(ended.workers.requests).to.have.length(2);
  });

  it("calls the manager's model with the manager's own options", async () => {
    const ended = await lead(["done"], {
      agents,
      tasks: [facts],
      managerModelOptions: { maxOutputTokens: 77, temperature: 0 },
    });
    expect(ended.manager.requests[0]).to.include({ maxOutputTokens: 77, temperature: 0 });
  });

  it("records the manager's calls as coordination and the workers' as work", async () => {
    const { output } = await lead([delegateTask({ agentRole: "Writer" }), "done"], {
      agents,
      tasks: [facts],
    });
    expect(
      output.metrics.ledger.map(({ agentRole, purpose }) => [agentRole, purpose]),
    ).to.deep.equal([
      ["Manager", "manager"],
      ["Writer", "worker"],
      ["Manager", "manager"],
    ]);
    expect(output.trace.taskTraces.map(({ agentRole }) => agentRole)).to.deep.equal([
      "Manager",
      "Writer",
    ]);
  });

  it("creates agents for tasks without an agent only if no workers are given", async () => {
    const own = new Task({ description: "Write a poem", agent: writer });
    const made = await lead([delegateTask({ agentRole: "Researcher", taskNumber: 1 }), "done"], {
      tasks: [Task.of("Find out about owls"), own],
    });
    expect(promptOf(made.manager.requests[0])).to.include("Task 1: Find out about owls");
    expect(textAt(made.manager.requests[0], 0))
      .to.include("1. Writer")
      .and.to.include("2. Researcher");
    expect(made.output.taskOutputs[0]?.agentRole).to.equal("Researcher");
    const given = await lead(["done"], {
      agents: [writer],
      tasks: [Task.of("Find out about owls")],
    });
    expect(textAt(given.manager.requests[0], 0)).not.to.include("Researcher");
  });

  it("assigns each listed task its own agent if two were created with the same role", async () => {
    const one = new Task({ description: "Find out about owls" });
    const noop = tool({ name: "look", description: "Looks", execute: () => "" });
    const two = new Task({ description: "Find out about bats", tools: [noop] });
    const { workers } = await lead(
      [delegateTask({ agentRole: "Researcher", taskNumber: 2 }), "done"],
      { tasks: [one, two] },
    );
    expect(workers.requests[0]?.tools?.map(({ name }) => name)).to.deep.equal(["look"]);
  });

  it("warns if a task's own tools have no effect", async () => {
    const noop = tool({ name: "look", description: "Looks", execute: () => "" });
    const { events } = await lead(["done"], {
      agents,
      tasks: [new Task({ description: "Find", tools: [noop] })],
    });
    expect(events.flatMap((e) => (e.type === "run_warning" ? [e.message] : []))).to.have.length(1);
  });

  it("allows a custom strategy to write the prompts, and templates to change their parts", async () => {
    const strategy = {
      buildSystemPrompt: ({ agents: team }: { readonly agents: readonly Agent[] }) =>
        `Team of ${team.length}`,
      buildUserPrompt: () => " ",
    };
    const own = await lead(["done"], { agents, tasks: [facts], managerPromptStrategy: strategy });
    expect(textAt(own.manager.requests[0], 0)).to.include("You are Manager.\nTeam of 2\n");
    expect(promptOf(own.manager.requests[0])).to.include(
      "Coordinate your team to complete all assigned tasks and synthesize a comprehensive final response.",
    );
    const prompts = { "manager.task": "{number}) {description}\n", "manager.tool": "Verteilen" };
    const replaced = await lead(["done"], { agents, tasks: [facts], prompts });
    expect(promptOf(replaced.manager.requests[0])).to.include(
      "1) Find facts about owls\nDelegate each task",
    );
    expect(replaced.manager.requests[0]?.tools?.[0]?.description).to.equal("Verteilen");
  });

  it("ends with the run, workers included", async () => {
    const controller = new AbortController();
    const wait = tool({
      name: "wait",
      description: "Waits",
      execute: (_input, { signal }) => (controller.abort(), untilAborted(signal)),
    });
    const team = [researcher.with({ tools: [wait] })];
    const answer = () => ({ toolCalls: [{ name: "wait", arguments: {} }] });
    const ended = await lead(
      [delegateTask({ agentRole: "Researcher" })],
      { agents: team, tasks: [facts] },
      answer,
      { signal: controller.signal },
    );
    expect(ended.error).to.have.property("code", "AE_RUN_CANCELLED");
    expect([ended.manager.requests.length, ended.workers.requests.length]).to.deep.equal([1, 1]);
  });

  it("ends early if a worker's reviewer or tool requests it", async () => {
    const leave = tool({
      name: "leave",
      description: "Leaves",
      execute: () => {
        throw new ExitEarlySignal("enough");
      },
    });
    const answer = () => ({ toolCalls: [{ name: "leave", arguments: {} }] });
    const ended = await lead(
      [delegateTask({ agentRole: "Researcher" }), "never"],
      { agents: [researcher.with({ tools: [leave] })], tasks: [facts] },
      answer,
    );
    expect(ended.output.exitReason).to.equal("USER_EXIT_EARLY");
    expect(ended.manager.requests).to.have.length(1);
  });

  it("fails the manager's task if a guard of delegations is broken", async () => {
    const broken = tapping("broken", ({ hooks }) =>
      hooks.beforeDelegation.tap({ name: "broken" }, () => {
        throw new Error("guard is broken");
      }),
    );
    const ended = await lead([delegateTask({ agentRole: "Writer" }), "never"], {
      agents,
      tasks: [facts],
      plugins: [broken],
    });
    expect(ended.error?.cause).to.have.property("code", "AE_TOOL_CONFIGURATION");
    expect(ended.manager.requests).to.have.length(1);
  });
});
