import type { EnsembleOptions, HierarchicalConstraintsOptions } from "agentensemble";
import { Agent, Ensemble, HierarchicalConstraints, Task, ValidationError } from "agentensemble";
import { ScriptedModel, workflowContract } from "agentensemble/testing";
import { expect } from "chai";
import { ConstraintEnforcer } from "../../../../src/plugins/workflows/hierarchical/constraint-enforcer.js";
import { HierarchicalWorkflow } from "../../../../src/plugins/workflows/hierarchical/hierarchical-workflow.js";
import { ManagerExecutor } from "../../../../src/plugins/workflows/hierarchical/manager-executor.js";
import { RunConstraints } from "../../../../src/plugins/workflows/hierarchical/run-constraints.js";
import { rejectionOf } from "../../../support/rejection.js";
import { delegateTask, lead, researcher, writer } from "./fixtures.js";

const agents = [researcher, writer];
const task = Task.of("Write a brief");

/** The error of `explain()` and `run()`; no model is called. */
async function refused(options: EnsembleOptions): Promise<string> {
  const model = new ScriptedModel([]);
  const ensemble = new Ensemble({
    model,
    workflow: "HIERARCHICAL",
    agents,
    tasks: [task],
    ...options,
  });
  const error = await rejectionOf(ValidationError, ensemble.explain());
  const again = await rejectionOf(ValidationError, ensemble.run());
  expect(again.message).to.equal(error.message);
  expect(model.requests).to.have.length(0);
  await ensemble.dispose();
  return error.message;
}

const constrained = (o: HierarchicalConstraintsOptions): Promise<string> =>
  refused({ hierarchicalConstraints: new HierarchicalConstraints(o) });

describe("a hierarchical ensemble", () => {
  it("reserves the manager's role, in any spelling", async () => {
    expect(await refused({ agents: [new Agent({ role: " manager", goal: "Lead" })] })).to.equal(
      "Agent role 'Manager' is reserved for the virtual manager in HIERARCHICAL workflow. Choose a different role for agent ' manager'.",
    );
  });

  it("has one agent per role; one agent may have several tasks", async () => {
    const twin = new Task({
      description: "Write",
      agent: new Agent({ role: "WRITER", goal: "Write too" }),
    });
    expect(await refused({ tasks: [twin] })).to.include(
      "Duplicate agent role 'WRITER' detected in HIERARCHICAL workflow.",
    );
    const tasks = ["one", "two"].map((description) => new Task({ description, agent: writer }));
    expect((await lead(["done"], { agents, tasks })).error).to.equal(undefined);
  });

  it("refuses tasks with handlers", async () => {
    expect(
      await refused({ tasks: [task, new Task({ description: "Add", handler: () => "3" })] }),
    ).to.equal(
      "Deterministic handler tasks are not supported in HIERARCHICAL workflow. Task 'Add' has a handler configured. Use SEQUENTIAL or PARALLEL workflow when mixing AI-backed and deterministic tasks.",
    );
  });

  it("refuses constraints without a matching worker", async () => {
    expect(await constrained({ allowedWorkers: ["Ghost"] })).to.equal(
      "HierarchicalConstraints.allowedWorkers references unknown agent: 'Ghost'",
    );
    expect(await constrained({ requiredWorkers: ["Ghost"] })).to.equal(
      "HierarchicalConstraints.requiredWorkers references unknown agent: 'Ghost'",
    );
    expect(await constrained({ maxCallsPerWorker: { Ghost: 1 } })).to.equal(
      "HierarchicalConstraints.maxCallsPerWorker references unknown agent: 'Ghost'",
    );
    expect(await constrained({ requiredStages: [["Writer"], ["Ghost"]] })).to.equal(
      "HierarchicalConstraints.requiredStages references unknown agent: 'Ghost'",
    );
  });

  it("refuses contradictory constraints", async () => {
    expect(
      await constrained({ allowedWorkers: ["Writer"], requiredWorkers: ["researcher"] }),
    ).to.equal(
      "HierarchicalConstraints.requiredWorkers contains 'researcher' which is not in allowedWorkers",
    );
    expect(await constrained({ maxCallsPerWorker: { Writer: 0 } })).to.equal(
      "HierarchicalConstraints.maxCallsPerWorker value for 'Writer' must be > 0, got: 0",
    );
    expect(await constrained({ maxCallsPerWorker: { Writer: 1.5 } })).to.include(
      "must be > 0, got: 1.5",
    );
    expect(await constrained({ maxCallsPerWorker: { Writer: 1, " writer": 2 } })).to.include(
      "names agent ' writer' twice",
    );
    expect(await constrained({ globalMaxDelegations: -1 })).to.equal(
      "HierarchicalConstraints.globalMaxDelegations must be >= 0, got: -1",
    );
    expect(await constrained({ requiredStages: [["Writer"], ["WRITER"]] })).to.equal(
      "HierarchicalConstraints.requiredStages contains duplicate agent role 'WRITER' in multiple stages",
    );
  });

  it("refuses impossible constraints", async () => {
    expect(
      await constrained({
        allowedWorkers: ["Writer"],
        requiredStages: [["researcher"], ["Writer"]],
      }),
    ).to.equal(
      "HierarchicalConstraints.requiredStages contains 'researcher' which is not in allowedWorkers",
    );
    expect(
      await constrained({ requiredWorkers: ["Writer", "Researcher"], globalMaxDelegations: 1 }),
    ).to.include("globalMaxDelegations of 1 is too low");
    const staged = { requiredStages: [["Researcher"], ["Writer"]], globalMaxDelegations: 1 };
    expect(await constrained({ ...staged, requiredWorkers: ["writer"] })).to.include(
      "need 2 delegations",
    );
    const first = new HierarchicalConstraints({ ...staged, requiredWorkers: ["researcher"] });
    const led = await lead([delegateTask({ agentRole: "Researcher" }), "done"], {
      agents,
      tasks: [task],
      hierarchicalConstraints: first,
    });
    expect(led.error).to.equal(undefined);
  });

  it("accepts roles in any spelling, and checks those of created agents later", async () => {
    const accepted = new HierarchicalConstraints({
      allowedWorkers: [" WRITER", "Researcher"],
      maxCallsPerWorker: { researcher: 1 },
    });
    expect(
      (await lead(["done"], { agents, tasks: [task], hierarchicalConstraints: accepted })).error,
    ).to.equal(undefined);
    const unknown = new HierarchicalConstraints({ requiredWorkers: ["Ghost"] });
    const ended = await lead([], { tasks: [task], hierarchicalConstraints: unknown });
    expect(ended.error?.message).to.equal(
      "HierarchicalConstraints.requiredWorkers references unknown agent: 'Ghost'",
    );
    expect(ended.manager.requests).to.have.length(0);
  });

  it("uses the manager's model of the ensemble, else of the first worker, and reports if there is none", async () => {
    const model = new ScriptedModel(["done"]);
    const led = await lead([], {
      model: undefined,
      managerModel: undefined,
      agents: [writer.with({ model })],
      tasks: [new Task({ description: "Write", model })],
    });
    expect([led.output.raw, led.error]).to.deep.equal(["done", undefined]);
    const without = await lead([], {
      model: undefined,
      managerModel: undefined,
      tasks: [new Task({ description: "Write", model })],
    });
    expect(without.error?.message).to.equal(
      "No LLM available for the manager of workflow HIERARCHICAL. Set `model` or `managerModel` on the ensemble.",
    );
    const bare = await lead([], {
      model: undefined,
      agents: [writer],
      tasks: [new Task({ description: "Write", model })],
    });
    expect(bare.error?.message).to.include("No LLM available for agent 'Writer'");
    expect(model.requests).to.have.length(1);
  });

  it("requires no further model if manager and workers have models", async () => {
    const own = { model: undefined, agents: [writer.with({ model: new ScriptedModel(["text"]) })] };
    const led = await lead([delegateTask({ agentRole: "Writer", taskNumber: 1 }), "done"], {
      ...own,
      tasks: [Task.of("Write")],
    });
    expect([led.output.raw, led.error]).to.deep.equal(["done", undefined]);
    const without = await lead([], { ...own, agents: [writer], tasks: [Task.of("Write")] });
    expect(without.error).to.have.property("code", "AE_VALIDATION");
    expect(without.manager.requests).to.have.length(0);
  });

  it("refuses a strategy's prompt that is not a text", async () => {
    const strategy = { buildSystemPrompt: () => 7 as never, buildUserPrompt: () => "Lead" };
    expect(
      (await lead([], { agents, tasks: [task], managerPromptStrategy: strategy })).error?.message,
    ).to.include("buildSystemPrompt() must return a string, got: 7");
  });
});

describe("ConstraintEnforcer", () => {
  it("names a required worker once, also if it is listed repeatedly", () => {
    const enforcer = new ConstraintEnforcer(
      new HierarchicalConstraints({ requiredWorkers: ["Writer", "writer "] }),
    );
    expect(enforcer.violations()).to.have.length(1);
    enforcer.complete("WRITER");
    expect(enforcer.violations()).to.deep.equal([]);
  });
});

workflowContract("HIERARCHICAL", {
  create: () => new HierarchicalWorkflow(new ManagerExecutor(), new RunConstraints()),
  tasks: [
    new Task({ description: "One", agent: researcher }),
    new Task({ description: "Two", agent: writer }),
  ],
  ensembleOptions: { model: new ScriptedModel([]) },
});
