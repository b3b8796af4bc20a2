import type { HierarchicalConstraintsOptions, RunOptions } from "agentensemble";
import {
  Agent,
  DelegationPolicyResult,
  HierarchicalConstraints,
  ReviewDecision,
  Task,
  Tokens,
} from "agentensemble";
import { expect } from "chai";
import fc from "fast-check";
import { tapping } from "../../../support/kernel-fixtures.js";
import {
  delegateTask,
  lead,
  researcher,
  roleIn,
  told,
  writer,
  type Led,
  type Step,
} from "./fixtures.js";

const editor = new Agent({ role: "Editor", goal: "Tighten" });
const agents = [researcher, writer, editor];
const task = Task.of("Write a brief");
const rejected = (text: string): string => `Delegation rejected by policy: ${text}`;
const to = (...roles: readonly string[]): Step =>
  delegateTask(...roles.map((agentRole) => ({ agentRole })));

function constrained(o: HierarchicalConstraintsOptions, ...script: readonly Step[]): Promise<Led> {
  return lead([...script, "done"], {
    agents,
    tasks: [task],
    hierarchicalConstraints: new HierarchicalConstraints(o),
  });
}

describe("the constraints of a hierarchical team", () => {
  it("are checked before a review of the manager's answer is requested", async () => {
    let asked = 0;
    for (const reviewPolicy of ["AFTER_LAST_TASK", "AFTER_EVERY_TASK"] as const) {
      const { error } = await lead(["done"], {
        agents,
        tasks: [task],
        hierarchicalConstraints: new HierarchicalConstraints({ requiredWorkers: ["Writer"] }),
        reviewPolicy,
        reviewHandler: () => {
          asked++;
          return ReviewDecision.continue();
        },
      });
      expect([error?.code, asked]).to.deep.equal(["AE_CONSTRAINT_VIOLATION", 0]);
    }
  });

  it("refuse with the specified texts, in the specified order", async () => {
    const ended = await constrained(
      {
        allowedWorkers: ["researcher", "writer"],
        maxCallsPerWorker: { " RESEARCHER ": 1 },
        globalMaxDelegations: 2,
        requiredStages: [["researcher"], ["writer"]],
      },
      to("Editor"),
      to("writer"),
      to("RESEARCHER"),
      to(" researcher"),
      to("Writer"),
      to("writer "),
      to("editor"),
    );
    expect(told(ended).map((text) => text.replace(/\n[^]*/, ""))).to.deep.equal([
      rejected("Agent 'Editor' is not in the allowedWorkers list"),
      rejected("Cannot delegate to 'Writer': stage 1 is not yet complete"),
      "Researcher 1",
      rejected("Agent 'Researcher' has reached its delegation cap of 1"),
      "Writer 2",
      rejected("Global delegation cap of 2 has been reached"),
      rejected("Agent 'Editor' is not in the allowedWorkers list"),
    ]);
  });

  it("count approved delegations, with and without success of the worker, and no refused delegation", async () => {
    const options = {
      agents,
      tasks: [task],
      hierarchicalConstraints: new HierarchicalConstraints({ maxCallsPerWorker: { Writer: 2 } }),
    };
    const refusals = ["first", "second"];
    const policy = () =>
      refusals.shift() === undefined
        ? DelegationPolicyResult.allow()
        : DelegationPolicyResult.reject("later");
    const script = [to("Writer"), to("Writer"), to("Writer"), to("Writer"), to("Writer"), "done"];
    const ended = await lead(
      script,
      { ...options, delegationPolicies: [policy] },
      (_request, index) => (index === 0 ? new Error("no ink") : "text"),
    );
    expect(told(ended).map((text) => text.replace(/\n[^]*/, ""))).to.deep.equal([
      rejected("later"),
      rejected("later"),
      "Error: Agent 'Writer' failed: no ink",
      "text",
      rejected("Agent 'Writer' has reached its delegation cap of 2"),
    ]);
  });

  it("precede the policies, and also judge the request changed by them", async () => {
    const asked: string[] = [];
    const hierarchicalConstraints = new HierarchicalConstraints({ allowedWorkers: ["Writer"] });
    const policy = (request: Parameters<typeof DelegationPolicyResult.modify>[0]) => {
      asked.push(request.agentRole);
      return DelegationPolicyResult.modify({ ...request, agentRole: "editor" });
    };
    const ended = await lead([to("Researcher"), to("Writer"), "done"], {
      agents,
      tasks: [task],
      hierarchicalConstraints,
      delegationPolicies: [policy],
    });
    expect(told(ended)).to.deep.equal([
      rejected("Agent 'Researcher' is not in the allowedWorkers list"),
      rejected("Agent 'Editor' is not in the allowedWorkers list"),
    ]);
    expect(asked).to.deep.equal(["Writer"]);
  });

  it("apply to workers that delegate, and count their successes", async () => {
    const chief = researcher.with({ allowDelegation: true });
    const hierarchicalConstraints = new HierarchicalConstraints({
      maxCallsPerWorker: { writer: 1 },
      requiredWorkers: ["writer"],
    });
    const peer = {
      toolCalls: [1, 2].map(() => ({
        name: "delegate",
        arguments: { agentRole: "WRITER", taskDescription: "Help" },
      })),
    };
    const ended = await lead(
      [to("Researcher"), "done"],
      { agents: [chief, writer], tasks: [task], hierarchicalConstraints },
      (request) =>
        roleIn(request) === "Writer"
          ? "help"
          : request.messages.some(({ role }) => role === "tool")
            ? "found"
            : peer,
    );
    const texts = ended.workers.requests
      .at(-1)
      ?.messages.flatMap((message) => (message.role === "tool" ? [message.content] : []));
    expect(texts).to.deep.equal([
      "help",
      rejected("Agent 'Writer' has reached its delegation cap of 1"),
    ]);
    expect(ended.error).to.equal(undefined);
  });

  it("open a stage only after every worker of the previous one has succeeded", async () => {
    const hierarchicalConstraints = new HierarchicalConstraints({
      requiredStages: [["researcher", "writer"], ["editor"]],
    });
    let failed = false;
    const ended = await lead(
      [to("Researcher", "Writer", "Editor"), to("Editor"), to("Writer"), to("Editor"), "done"],
      { agents, tasks: [task], hierarchicalConstraints },
      (request) => {
        if (roleIn(request) !== "Writer" || failed) return "text";
        failed = true;
        return new Error("no ink");
      },
    );
    const waiting = rejected("Cannot delegate to 'Editor': stage 1 is not yet complete");
    expect(told(ended).map((text) => text.replace(/\n[^]*/, ""))).to.deep.equal([
      "text",
      "Error: Agent 'Writer' failed: no ink",
      waiting,
      waiting,
      "text",
      "text",
    ]);
  });

  it("fail a finished run that lacks a required worker, with its outputs", async () => {
    const ended = await constrained({ requiredWorkers: ["writer", "Editor"] }, to("Writer"));
    expect(ended.error).to.have.property("code", "AE_CONSTRAINT_VIOLATION");
    expect(ended.error).to.deep.include({
      violations: ["Required worker 'Editor' was never delegated a task"],
      message:
        "Hierarchical constraint violated: Required worker 'Editor' was never delegated a task",
    });
    expect(ended.error).to.have.nested.property("completedTaskOutputs.0.raw", "Writer 1");
    const failed = ended.events.filter(({ type }) => type === "task_failed");
    expect(failed.map((event) => "agentRole" in event && event.agentRole)).to.deep.equal([
      "Manager", // its answer was refused
    ]);
    const idle = await constrained({ requiredWorkers: ["writer", "Editor"] });
    expect(idle.error).to.have.property("violations").with.length(2);
  });

  it("do not count a failed worker or a refused result as a delegation", async () => {
    const hierarchicalConstraints = new HierarchicalConstraints({ requiredWorkers: ["Writer"] });
    const failing = await lead(
      [to("Writer"), "done"],
      { agents, tasks: [task], hierarchicalConstraints },
      () => new Error("no ink"),
    );
    expect(failing.error).to.have.property("code", "AE_CONSTRAINT_VIOLATION");
    const refusing = tapping("refuse", ({ hooks }) =>
      hooks.afterDelegation.tap({ name: "refuse", lane: "policy" }, () => ({
        verb: "reject" as const,
        reason: "bad",
      })),
    );
    const refused = await lead([to("Writer"), "done"], {
      agents,
      tasks: [task],
      hierarchicalConstraints,
      plugins: [refusing],
    });
    expect(told(refused)).to.deep.equal(["bad"]);
    expect(refused.error).to.have.property("code", "AE_CONSTRAINT_VIOLATION");
    expect(refused.error).to.have.property("completedTaskOutputs").with.length(0);
  });

  it("may be bound instead of passed, and apply to one run", async () => {
    const bound = new HierarchicalConstraints({ requiredWorkers: ["Editor"] });
    const runOptions: RunOptions = {
      bindings: (bind) => void bind.single(Tokens.HierarchicalConstraints).toConstantValue(bound),
    };
    const ended = await lead(["done"], { agents, tasks: [task] }, () => "text", runOptions);
    expect(ended.error).to.have.property("code", "AE_CONSTRAINT_VIOLATION");
  });

  it("have no effect in other workflows", async () => {
    const chief = new Agent({ role: "Chief", goal: "Lead", allowDelegation: true });
    const script = [
      {
        toolCalls: [
          { name: "delegate", arguments: { agentRole: "Writer", taskDescription: "Help" } },
        ],
      },
      "done",
    ];
    const ended = await lead(
      [],
      {
        agents,
        tasks: [new Task({ description: "Report", agent: chief })],
        workflow: "SEQUENTIAL",
        hierarchicalConstraints: new HierarchicalConstraints({
          allowedWorkers: ["Editor"],
          requiredWorkers: ["Editor"],
        }),
      },
      (request) => (roleIn(request) === "Chief" ? (script.shift() ?? "done") : "help"),
    );
    expect(ended.error).to.equal(undefined);
    expect(ended.events.filter(({ type }) => type === "delegation_completed")).to.have.length(1);
  });

  it("apply to any spelling, order and number of concurrent calls", async () => {
    const spelling = (role: string) =>
      fc
        .tuple(
          fc.constantFrom("", " ", "\t"),
          fc.constantFrom(role, role.toLowerCase(), role.toUpperCase()),
        )
        .map(([blank, text]) => blank + text + blank);
    const wish = fc.constantFrom(...agents.map(({ role }) => role)).chain(spelling);
    const turns = fc.array(fc.array(wish, { minLength: 1, maxLength: 5 }), {
      minLength: 1,
      maxLength: 4,
    });
    const caps = fc.record({
      Researcher: fc.integer({ min: 1, max: 3 }),
      writer: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(
        turns,
        caps,
        fc.integer({ min: 0, max: 6 }),
        async (script, maxCallsPerWorker, globalMaxDelegations) => {
          const { workers, events } = await constrained(
            {
              maxCallsPerWorker,
              globalMaxDelegations,
              requiredStages: [["researcher"], ["editor"]],
            },
            ...script.map((roles) => to(...roles)),
          );
          const roles = workers.requests.map(roleIn);
          const count = (role: string): number => roles.filter((name) => name === role).length;
          expect(count("Researcher")).to.be.at.most(maxCallsPerWorker.Researcher);
          expect(count("Writer")).to.be.at.most(maxCallsPerWorker.writer);
          if (globalMaxDelegations > 0) expect(roles.length).to.be.at.most(globalMaxDelegations);
          if (count("Editor") > 0)
            expect(roles.indexOf("Researcher")).to.be.within(0, roles.indexOf("Editor"));
          const ends = events.filter(
            ({ type }) => type === "delegation_completed" || type === "delegation_failed",
          );
          expect(ends).to.have.length(script.flat().length);
        },
      ),
      { numRuns: 60 },
    );
  });
});
