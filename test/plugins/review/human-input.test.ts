import type { AnyTool, EnsembleOptions } from "agentensemble";
import {
  Agent,
  ReviewDecision,
  ReviewTimeoutError,
  Task,
  tool,
  ValidationError,
} from "agentensemble";
import { humanInputTool } from "agentensemble/review";
import { ScriptedModel, toolContract } from "agentensemble/testing";
import { expect } from "chai";
import { runToEnd, untilAborted } from "../../support/kernel-fixtures.js";
import { person, type Answer } from "./fixtures.js";

const silent: Answer = ({ signal }) => untilAborted(signal);

async function question(
  answers: readonly Answer[],
  used: AnyTool = humanInputTool(),
  o: EnsembleOptions = {},
  args: object = { question: "Red or blue?" },
) {
  const { handler, asked } = person(...answers);
  const model = new ScriptedModel([{ toolCalls: [{ name: used.name, arguments: args }] }, "done"]);
  const agent = new Agent({ role: "Painter", goal: "Paint", tools: [used], model });
  const ended = await runToEnd({
    tasks: [new Task({ description: "Paint", agent })],
    ...(answers.length === 0 ? {} : { reviewHandler: handler }),
    ...o,
  });
  return {
    ...ended,
    asked,
    told: model.requests.at(-1)?.messages.findLast(({ role }) => role === "tool")?.content,
  };
}

describe("humanInputTool", () => {
  it("requests an answer to the model's question, and returns the edit as the answer", async () => {
    const { asked, told } = await question([ReviewDecision.edit("Blue")]);
    expect(asked[0]).to.include({
      taskDescription: "Red or blue?",
      taskOutput: "",
      timing: "DURING_EXECUTION",
      timeoutMs: 300_000,
      onTimeout: "CONTINUE",
      agentRole: "Painter",
    });
    expect(told).to.equal("Blue");
  });

  it("instructs the model to continue", async () => {
    expect((await question([ReviewDecision.continue()])).told).to.equal(
      "Understood. Please continue.",
    );
  });

  it("ends the run on the request of the reviewer", async () => {
    const { output, error } = await question([ReviewDecision.exitEarly()]);
    expect([output.exitReason, error, output.metrics.llmCallCount]).to.deep.equal([
      "USER_EXIT_EARLY",
      undefined,
      1,
    ]);
  });

  it("reports a missing reviewer to the model", async () => {
    const { told, events } = await question([]);
    const warnings = events.flatMap((event) =>
      event.type === "run_warning" ? [event.message] : [],
    );
    expect(told).to.equal("No reviewer is available. Please proceed with your best judgment.");
    expect(warnings).to.deep.equal([
      "Tool 'human_input' can't ask: the run has no review handler, and its review store has no listener",
    ]);
  });

  it("applies its own time limit and the configured effect", async () => {
    expect((await question([silent], humanInputTool({ timeoutMs: 10 }))).told).to.equal(
      "Understood. Please continue.",
    );
    expect(
      (await question([silent], humanInputTool({ timeoutMs: 10, onTimeout: "EXIT_EARLY" }))).output
        .exitReason,
    ).to.equal("TIMEOUT");
    const failed = await question([silent], humanInputTool({ timeoutMs: 10, onTimeout: "FAIL" }));
    expect(ReviewTimeoutError.find(failed.error)?.message).to.equal(
      "Review gate timed out after 0.01s (onTimeout: FAIL)",
    );
    expect([failed.output.exitReason, failed.output.metrics.llmCallCount]).to.deep.equal([
      "ERROR",
      1,
    ]);
  });

  it("is not limited by the time limit for tools", async () => {
    const late: Answer = () =>
      new Promise((resolve) => setTimeout(() => resolve(ReviewDecision.edit("Blue")), 40));
    expect((await question([late], undefined, { toolTimeoutMs: 10 })).told).to.equal("Blue");
  });

  it("passes on the role, and uses a given description", async () => {
    const used = humanInputTool({ requiredRole: "artist", description: "Ask the artist" });
    expect([used.name, used.description]).to.deep.equal(["human_input", "Ask the artist"]);
    expect((await question([ReviewDecision.continue()], used)).asked[0]?.requiredRole).to.equal(
      "artist",
    );
  });

  it("reports an invalid question to the model", async () => {
    for (const args of [{ question: " " }, { question: 5 }, {}])
      expect((await question([ReviewDecision.continue()], undefined, {}, args)).told).to.match(
        /^Error: .*question/,
      );
  });

  it("requests two reviews of one call, as a composed tool does, under two ids", async () => {
    const human = humanInputTool();
    const twice = tool({
      name: "twice",
      description: "Asks twice",
      execute: async (_, ctx) => {
        const one = await human.execute({ question: "One?" }, ctx);
        return [one, await human.execute({ question: "Two?" }, ctx)];
      },
    });
    const { asked, told } = await question(
      [ReviewDecision.edit("1"), ReviewDecision.edit("2")],
      twice,
      {},
      { input: "" },
    );
    expect(told).to.equal('["1","2"]');
    expect(new Set(asked.map(({ reviewId }) => reviewId)).size).to.equal(2);
  });

  it("ends the run from inside a worker of a manager", async () => {
    const { handler } = person(ReviewDecision.exitEarly({ timedOut: true }));
    const model = new ScriptedModel([
      { toolCalls: [{ name: "human_input", arguments: { question: "Well?" } }] },
      "never",
    ]);
    const agent = new Agent({ role: "Worker", goal: "Do it", model, tools: [humanInputTool()] });
    const managerModel = new ScriptedModel([
      {
        toolCalls: [
          {
            name: "delegateTask",
            arguments: { agentRole: "Worker", taskDescription: "Do it", taskNumber: 1 },
          },
        ],
      },
      "never",
    ]);
    const { output } = await runToEnd({
      workflow: "HIERARCHICAL",
      tasks: [new Task({ description: "Work", agent })],
      managerModel,
      reviewHandler: handler,
    });
    expect([output.exitReason, output.metrics.llmCallCount]).to.deep.equal(["TIMEOUT", 2]);
  });

  it("refuses invalid options", () => {
    expect(() => humanInputTool({ timeoutMs: -1 })).to.throw(
      ValidationError,
      "humanInputTool timeoutMs",
    );
    expect(() => humanInputTool({ onTimeout: "NO" as never })).to.throw(
      ValidationError,
      "humanInputTool onTimeout",
    );
    expect(() => humanInputTool({ description: " " })).to.throw(
      ValidationError,
      "description must not be blank",
    );
    expect(() => humanInputTool({ timeout: 1 } as never)).to.throw(
      ValidationError,
      "Did you mean 'timeoutMs'?",
    );
  });

  it("takes its answers from the prompt texts", async () => {
    expect(
      (
        await question([ReviewDecision.continue()], undefined, {
          prompts: { "review.humanContinue": "Weiter." },
        })
      ).told,
    ).to.equal("Weiter.");
  });
});

toolContract("humanInputTool", {
  create: () => humanInputTool(),
  valid: [{ question: "Red or blue?" }],
  failing: [{ question: "" }],
});
