import type {
  DelegateOptions,
  DelegationRequest,
  DelegationResponse,
  EnsembleOptions,
  Plugin,
} from "agentensemble";
import { Agent, ExitEarlySignal, reject, replace, Task } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { runToEnd, scoped, tapping, type Ended } from "../../support/kernel-fixtures.js";
import { textAt } from "./prompt-text.js";

const worker = new Agent({ role: "Worker", goal: "Work" });
const plain: DelegationRequest = {
  taskId: "d1",
  agentRole: "Worker",
  taskDescription: "Help {out}",
  scope: {},
  priority: "NORMAL",
  maxOutputRetries: 0,
  metadata: {},
};

interface Delegated extends Ended {
  readonly response: DelegationResponse | undefined;
  readonly model: ScriptedModel;
}

/** A tool delegates once, to a worker that answers with `answers`. */
async function delegated(
  request: Partial<DelegationRequest>,
  answers: readonly (string | Error)[],
  options: EnsembleOptions = {},
  o?: DelegateOptions,
): Promise<Delegated> {
  const model = new ScriptedModel(answers);
  let response: DelegationResponse | undefined;
  const task = scoped("lead", async (scope) => {
    response = await scope.delegate({ ...plain, ...request }, o);
  });
  const tasks = [...(options.tasks ?? []), task];
  const ended = await runToEnd({ model, agents: [worker], ...options, tasks });
  return { ...ended, response, model };
}

function causes(error: unknown): readonly string[] {
  const messages: string[] = [];
  for (let e = error; e instanceof Error; e = e.cause) messages.push(e.message);
  return messages;
}

const promptOf = ({ model }: Delegated, index = 0): string => textAt(model.requests[index], 1);
const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

describe("scope.delegate", () => {
  it("passes the task unchanged to the worker, including braces", async () => {
    const ended = await delegated({}, ["done"], {}, { expectedOutput: "A {thing}" });
    expect(ended.response).to.include({
      status: "SUCCESS",
      rawOutput: "done",
      workerRole: "Worker",
      taskId: "d1",
    });
    expect(promptOf(ended)).to.equal("## Task\nHelp {out}\n\n## Expected Output\nA {thing}");
  });

  it("shows the request's scope to the worker, unless the scope is empty", async () => {
    const ended = await delegated({ scope: { region: "EU", years: [2024] } }, ["done"]);
    expect(promptOf(ended))
      .to.include('{"region":"EU","years":[2024]}')
      .and.to.include("(deterministic): scope");
    expect(promptOf(await delegated({}, ["done"]))).not.to.include("scope");
  });

  it("passes the scope to a listed task in addition to the outputs in its context", async () => {
    const first = new Task({ name: "first", description: "first", handler: () => "the facts" });
    const listed = new Task({
      name: "listed",
      description: "listed",
      agent: worker,
      context: [first],
    });
    const ended = await delegated(
      { scope: { region: "EU" } },
      ["once", "again"],
      { tasks: [first, listed], workflow: "SEQUENTIAL" },
      { taskId: "listed" },
    );
    expect(promptOf(ended, 1)).to.include("the facts").and.to.include('{"region":"EU"}');
  });

  it("adds the feedback to a listed task that is delegated again", async () => {
    const listed = new Task({ name: "listed", description: "listed", agent: worker });
    const ended = await delegated(
      { taskDescription: "Shorter please" },
      ["once", "again"],
      { tasks: [listed] },
      { taskId: "listed" },
    );
    expect(promptOf(ended, 1))
      .to.include("(Attempt 2)")
      .and.to.include("Shorter please")
      .and.to.include("once");
    expect(ended.output.getOutput(listed)?.raw).to.equal("again");
  });

  it("reports the request with its priority in the events", async () => {
    const { events } = await delegated({ priority: "CRITICAL", metadata: { ticket: 7 } }, ["done"]);
    const requests = events.flatMap((e) =>
      e.type === "delegation_started" || e.type === "delegation_completed" ? [e.request] : [],
    );
    expect(requests.map(({ priority, metadata }) => [priority, metadata])).to.deep.equal([
      ["CRITICAL", { ticket: 7 }],
      ["CRITICAL", { ticket: 7 }],
    ]);
  });

  it("reads the output by expectedOutputSchema", async () => {
    const { response } = await delegated({ expectedOutputSchema: schema }, [
      'Here it is: {"n": 3}',
    ]);
    expect(response)
      .to.include({ status: "SUCCESS" })
      .and.to.have.deep.property("parsedOutput", { n: 3 });
  });

  it("requests up to maxOutputRetries corrections, with the problem, then fails", async () => {
    const corrected = await delegated({ expectedOutputSchema: schema, maxOutputRetries: 1 }, [
      '{"n": "three"}',
      '{"n": 3}',
    ]);
    expect(corrected.response?.parsedOutput).to.deep.equal({ n: 3 });
    expect(textAt(corrected.model.requests[1], -1)).to.include("n: ").and.to.include("integer");
    const { response, model } = await delegated({ expectedOutputSchema: schema }, [
      '{"n": "three"}',
    ]);
    expect(response?.status).to.equal("FAILURE");
    expect(response?.errors[0]).to.include("Structured output parsing failed");
    expect(model.requests).to.have.length(1);
  });

  it("reads schemas by their named draft", async () => {
    const tuple = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "array",
      items: [{ type: "string" }],
      additionalItems: false,
    };
    expect((await delegated({ expectedOutputSchema: tuple }, ['["a"]'])).response?.status).to.equal(
      "SUCCESS",
    );
    expect(
      (await delegated({ expectedOutputSchema: tuple }, ['["a", 1]'])).response?.status,
    ).to.equal("FAILURE");
  });

  it("refuses invalid requests, and a schema for a listed task", async () => {
    const wrong: readonly (readonly [object, RegExp])[] = [
      [{ agentRole: " " }, /agentRole must not be blank/],
      [{ taskDescription: "" }, /taskDescription must not be blank/],
      [{ priority: "URGENT" }, /priority must be .* got: URGENT/],
      [{ scope: null }, /scope must be an object/],
      [{ maxOutputRetries: -1 }, /maxOutputRetries must be >= 0/],
    ];
    for (const [patch, message] of wrong)
      expect(causes((await delegated(patch, [])).error).join("\n")).to.match(message);
    const listed = new Task({ name: "listed", description: "listed", agent: worker });
    const { error } = await delegated(
      { expectedOutputSchema: schema },
      ["once"],
      { tasks: [listed] },
      { taskId: "listed" },
    );
    expect(causes(error).join("\n")).to.include("has its own schema");
  });

  it("keeps the id of a request that a tap has changed", async () => {
    const renaming = tapping("renaming", ({ hooks }) =>
      hooks.beforeDelegation.tap({ name: "rename", lane: "transform" }, ({ request }) =>
        replace({ request: { ...request, taskId: "other", agentRole: " WORKER " } }),
      ),
    );
    const { response, events } = await delegated({}, ["done"], { plugins: [renaming] });
    expect(response).to.include({ taskId: "d1", workerRole: "Worker" });
    expect(events.find((e) => e.type === "delegation_completed")).to.include({
      delegationId: "d1",
      workerRole: "Worker",
    });
  });

  it("reports a delegation whose after tap fails, and a delegation that a review ends", async () => {
    const ending = (end: () => never): Plugin =>
      tapping("ending", ({ hooks }) =>
        hooks.afterDelegation.tap({ name: "end", lane: "review" }, end),
      );
    const failed = await delegated({}, ["done"], {
      plugins: [
        ending(() => {
          throw new Error("oops");
        }),
      ],
    });
    expect(failed.events.filter((e) => e.type === "delegation_failed")).to.have.length(1);
    expect(failed.error).to.have.property("code", "AE_TASK_EXECUTION");
    const ended = await delegated({}, ["done"], {
      plugins: [
        ending(() => {
          throw new ExitEarlySignal("enough");
        }),
      ],
    });
    expect(ended.output.exitReason).to.equal("USER_EXIT_EARLY");
    expect(ended.events.filter((e) => e.type === "delegation_completed")).to.have.length(1);
  });

  it("names the reason of a worker's failure, without its wrapping error", async () => {
    const { response, events } = await delegated({}, [new Error("model is down")]);
    expect(response?.errors).to.deep.equal(["Agent 'Worker' failed: model is down"]);
    expect(events.find((e) => e.type === "delegation_failed")).to.have.property(
      "reason",
      "Agent 'Worker' failed: model is down",
    );
  });

  it("includes the trace of a worker's last attempt, and counts its usage", async () => {
    const refuse = tapping("refuse", ({ hooks }) =>
      hooks.beforeDelegation.tap({ name: "no" }, () => reject("no")),
    );
    const { output } = await delegated({}, ["done"]);
    expect(output.trace.taskTraces).to.have.length(1);
    expect(output.trace.taskTraces[0]?.delegations[0]?.workerTrace?.finalOutput).to.equal("done");
    expect(
      output.metrics.ledger.map(({ purpose, agentRole, parentTaskId }) => [
        purpose,
        agentRole,
        parentTaskId,
      ]),
    ).to.deep.equal([["worker", "Worker", "task-1"]]);
    const refused = await delegated({}, [], { plugins: [refuse] });
    expect(refused.output.trace.taskTraces[0]?.delegations[0]).to.include({
      succeeded: false,
      workerTrace: undefined,
      result: "Error: no",
    });
    expect(output.metrics).to.include({ delegationCount: 1, refusedDelegationCount: 0 });
    expect(refused.output.metrics).to.include({ delegationCount: 0, refusedDelegationCount: 1 });
  });
});
