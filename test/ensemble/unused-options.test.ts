import type { EnsembleOptions, Plugin, WorkflowExecutor } from "agentensemble";
import {
  Agent,
  Ensemble,
  HierarchicalConstraints,
  LongTermMemory,
  MemoryStore,
  Task,
  Tokens,
  definePlugin,
  tool,
} from "agentensemble";
import { recordingListener, ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";

async function warningsOf(options: EnsembleOptions): Promise<readonly string[]> {
  const listener = recordingListener();
  await new Ensemble({
    tasks: [new Task({ description: "Do it", handler: () => "done" })],
    ...options,
    listeners: [listener],
  }).run();
  return listener.of("run_warning").map(({ message }) => message);
}

describe("options without effect", () => {
  it("are named in warnings: options of a manager without a manager", async () => {
    const warnings = await warningsOf({
      managerMaxIterations: 3,
      hierarchicalConstraints: new HierarchicalConstraints({ globalMaxDelegations: 1 }),
    });
    expect(warnings).to.deep.equal([
      "Option 'managerMaxIterations' has no effect in workflow SEQUENTIAL, only in HIERARCHICAL",
      "Option 'hierarchicalConstraints' has no effect in workflow SEQUENTIAL, only in HIERARCHICAL",
    ]);
  });

  it("are named in warnings: limits of concurrency without concurrent work", async () => {
    expect(await warningsOf({ maxConcurrency: 2 })).to.have.lengthOf(1);
    expect(await warningsOf({ maxConcurrency: 2, workflow: "PARALLEL" })).to.deep.equal([]);
  });

  it("are named in warnings: options that a plugin's workflow does not declare, unless it may read all", async () => {
    const plugin = (name: string, reads?: WorkflowExecutor["reads"]): Plugin =>
      definePlugin({
        name: `workflow-${name}`,
        bind: (bind) =>
          void bind.many(Tokens.WorkflowExecutor).toConstantValue({
            name,
            reads,
            execute: (plan, run) =>
              run.runWorkflow(
                "SEQUENTIAL",
                plan.tasks.map(({ id }) => id),
              ),
          }),
      });
    const plugins = [plugin("OPEN"), plugin("NARROW", ["maxConcurrency"])];
    const options = { maxConcurrency: 2, managerMaxIterations: 3, plugins };
    expect(await warningsOf({ ...options, workflow: "OPEN" })).to.deep.equal([]);
    expect(await warningsOf({ ...options, workflow: "NARROW" })).to.deep.equal([
      "Option 'managerMaxIterations' has no effect in workflow NARROW, only in HIERARCHICAL",
    ]);
    expect(await warningsOf({ maxConcurrency: 2, plugins })).to.deep.equal([
      "Option 'maxConcurrency' has no effect in workflow SEQUENTIAL, only in PARALLEL, PHASES, NARROW",
    ]);
  });

  it("are named in warnings: how much to recall without long-term memory", async () => {
    const warnings = await warningsOf({ memory: { shortTerm: true, longTermMaxResults: 3 } });
    expect(warnings).to.deep.equal([
      "Option 'memory.longTermMaxResults' has no effect without memory.longTerm",
    ]);
    expect(
      await warningsOf({
        memory: { longTerm: LongTermMemory.of(MemoryStore.inMemory()), longTermMaxResults: 3 },
      }),
    ).to.deep.equal([]);
  });

  it("are named in warnings: a task's tools if its agent has its own", async () => {
    const add = tool({ name: "add", description: "Adds", execute: (s) => s });
    const task = new Task({
      description: "Add",
      agent: new Agent({ role: "Clerk", goal: "Add" }),
      tools: [add],
    });
    expect(await warningsOf({ tasks: [task], model: new ScriptedModel(["5"]) })).to.have.lengthOf(
      1,
    );
  });
});
