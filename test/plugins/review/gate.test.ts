import type {
  EnsembleEvent,
  EnsembleOptions,
  PlainTaskOptions,
  ReviewHandler,
  ReviewRequest,
  ReviewStore,
  RunOptions,
  StoredReview,
} from "agentensemble";
import {
  Agent,
  AgentEnsembleError,
  answer,
  definePlugin,
  Ensemble,
  GuardrailResult,
  GuardrailViolationError,
  Review,
  ReviewDecision,
  ReviewError,
  ReviewUnavailableError,
  RunCancelledError,
  Task,
  tool,
  Tokens,
} from "agentensemble";
import { review, reviewInbox } from "agentensemble/review";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { z } from "zod";
import { echo, runToEnd, tapping, untilAborted } from "../../support/kernel-fixtures.js";
import { person, type Answer } from "./fixtures.js";
import { pause } from "../../support/time.js";

const CONTINUE = ReviewDecision.continue();
const required = (o: Partial<PlainTaskOptions<string>> = {}): Task =>
  new Task({ description: "Write", handler: () => "draft", review: Review.required(), ...o });

async function ask(
  options: EnsembleOptions,
  answers: readonly Answer[],
  runOptions: RunOptions = {},
) {
  const { handler, asked } = person(...answers);
  return { asked, ...(await runToEnd({ reviewHandler: handler, ...options }, runOptions)) };
}

const of = <T extends EnsembleEvent["type"]>(events: readonly EnsembleEvent[], type: T) =>
  events.filter((e): e is Extract<EnsembleEvent, { type: T }> => e.type === type);

describe("the review gate", () => {
  it("assigns the same id to the same question of a run, and different ids to different questions", async () => {
    const ids = async (): Promise<readonly string[]> => {
      const tasks = [
        required({ beforeReview: Review.required() }),
        required({ description: "Other" }),
      ];
      return (
        await ask({ tasks, workflow: "SEQUENTIAL" }, [CONTINUE], { runId: "fixed" })
      ).asked.map(({ reviewId }) => reviewId);
    };
    const first = await ids();
    expect(new Set(first).size).to.equal(3);
    expect(first.every((id) => /^review-[0-9a-f]{16}$/.test(id))).to.equal(true);
    expect(await ids()).to.deep.equal(first);
  });

  it("reports the question and its result", async () => {
    const { asked, events } = await ask(
      {
        tasks: [
          required({
            review: Review.of({
              prompt: "Fit to print?",
              timeoutMs: 50,
              onTimeout: "CONTINUE",
              requiredRole: "editor",
            }),
          }),
        ],
      },
      [ReviewDecision.edit("better")],
      { runId: "r" },
    );
    const [request] = asked;
    const { signal: _, runId: __, ...told } = request as ReviewRequest;
    expect(told).to.deep.include({
      timeoutMs: 50,
      onTimeout: "CONTINUE",
      requiredRole: "editor",
      prompt: "Fit to print?",
      taskId: "task-1",
      agentRole: "(deterministic)",
    });
    expect(of(events, "review_requested")[0]).to.deep.include(told);
    expect(Date.parse(told.deadline ?? "") - Date.parse(told.requestedAt)).to.equal(50);
    expect(of(events, "review_resolved")[0]).to.deep.include({
      reviewId: told.reviewId,
      taskId: "task-1",
      decision: "EDIT",
      timedOut: false,
    });
    expect(Object.isFrozen(request)).to.equal(true);
  });

  it("aborts the question's signal when the time is up, and reports the time-out", async () => {
    let signal: AbortSignal | undefined;
    const { events } = await ask(
      { tasks: [required({ review: Review.of({ timeoutMs: 10, onTimeout: "CONTINUE" }) })] },
      [
        (request) => {
          ({ signal } = request);
          return untilAborted(request.signal);
        },
      ],
    );
    expect(signal?.aborted).to.equal(true);
    expect(of(events, "review_resolved")[0]).to.include({ decision: "CONTINUE", timedOut: true });
  });

  it("waits forever with 0, and longer than the maximum of a timer with a larger value", async () => {
    for (const timeoutMs of [0, 10_000_000_000]) {
      const { output } = await ask({ tasks: [required({ review: Review.of({ timeoutMs }) })] }, [
        () => pause(30).then(() => CONTINUE),
      ]);
      expect(output.exitReason).to.equal("COMPLETED");
    }
  });

  it("accepts a decision at the last moment, and ignores an answer after the time limit", async () => {
    const late: Answer = ({ signal }) =>
      untilAborted(signal).catch(async () => {
        await pause(5);
        throw new Error("too late");
      });
    const { output } = await ask({ tasks: [required({ review: Review.of({ timeoutMs: 5 }) })] }, [
      late,
    ]);
    expect(output.exitReason).to.equal("TIMEOUT");
    await pause(20); // an unhandled rejection would end the process
  });

  it("ends with the run: the signal is aborted, the question is over, and no listener remains", async () => {
    const controller = new AbortController();
    await pause(); // mocha starts a timer of its own
    const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    let asked: ReviewRequest | undefined;
    const { error, events } = await ask(
      { tasks: [required({ review: Review.of({ timeoutMs: 60_000 }) })] },
      [
        (request) => {
          asked = request;
          setImmediate(() => controller.abort());
          return new Promise(() => undefined);
        },
      ],
      { signal: controller.signal },
    );
    expect(error).to.be.instanceOf(RunCancelledError);
    expect(asked?.signal.aborted).to.equal(true);
    expect(of(events, "review_resolved")[0]).to.include({ decision: "FAIL", timedOut: false });
    expect(
      process.getActiveResourcesInfo().filter((name) => name === "Timeout").length,
    ).to.be.at.most(before);
  });

  it("ends with the task's own time limit", async () => {
    const { error } = await ask({ tasks: [required({ timeoutMs: 20 })] }, [
      ({ signal }) => untilAborted(signal),
    ]);
    expect(AgentEnsembleError.isInstance(error?.cause) && error.cause.code).to.equal(
      "AE_TASK_TIMEOUT",
    );
  });

  it("treats an ExitEarlySignal of a handler as its decision, and passes on its typed errors", async () => {
    const { ExitEarlySignal } = await import("agentensemble");
    const { output } = await ask({ tasks: [required()] }, [
      () => {
        throw new ExitEarlySignal("enough", { timedOut: true });
      },
    ]);
    expect(output.exitReason).to.equal("TIMEOUT");
    const mine = new ReviewError("the page is gone");
    const { error } = await ask({ tasks: [required()] }, [() => Promise.reject(mine)]);
    expect(ReviewError.find(error)).to.equal(mine);
  });

  it("uses the handler of the run before that of the ensemble and of the container", async () => {
    const [own, bound, ofRun] = [person(CONTINUE), person(CONTINUE), person(CONTINUE)];
    const binding = definePlugin({
      name: "bound",
      bind: (bind) => void bind.single(Tokens.ReviewHandler).toConstantValue(bound.handler),
    });
    await runToEnd({ tasks: [required()], plugins: [binding] });
    await runToEnd({ tasks: [required()], plugins: [binding], reviewHandler: own.handler });
    await runToEnd(
      { tasks: [required()], reviewHandler: own.handler },
      { bindings: (bind) => void bind.single(Tokens.ReviewHandler).toConstantValue(ofRun.handler) },
    );
    expect([bound.asked.length, own.asked.length, ofRun.asked.length]).to.deep.equal([1, 1, 1]);
  });

  it("uses the defaults of the plugin, and refuses invalid ones", async () => {
    const { asked } = await ask(
      {
        tasks: [required(), required({ review: Review.of({ timeoutMs: 7, onTimeout: "FAIL" }) })],
        plugins: [review({ timeoutMs: 0, onTimeout: "CONTINUE" })],
      },
      [CONTINUE],
    );
    expect(asked.map(({ timeoutMs, onTimeout }) => [timeoutMs, onTimeout])).to.deep.equal([
      [0, "CONTINUE"],
      [7, "FAIL"],
    ]);
    expect(() => review({ timeoutMs: -1 })).to.throw(
      "review timeoutMs must be 0 (waits without end) or more milliseconds, got: -1",
    );
    expect(() => review({ onTimeout: "MAYBE" as never })).to.throw(
      "review onTimeout must be one of",
    );
    expect(() => review({ timeout: 1 } as never)).to.throw("Did you mean 'timeoutMs'?");
  });
});

describe("a review that no reviewer can answer", () => {
  const ways: Readonly<Record<string, EnsembleOptions>> = {
    "before a task": { tasks: [required({ review: undefined, beforeReview: Review.required() })] },
    "of a task's output": { tasks: [required()] },
    "of every output": { tasks: [echo("Write")], reviewPolicy: "AFTER_EVERY_TASK" },
    "of the last output": { tasks: [echo("Write")], reviewPolicy: "AFTER_LAST_TASK" },
  };
  for (const [way, options] of Object.entries(ways))
    it(`fails the task before it starts: ${way}`, async () => {
      let done = 0;
      const counting = tapping("count", ({ hooks }) =>
        hooks.afterTask.tap({ name: "count" }, ({ outcome }) => void (done += +(outcome === "ok"))),
      );
      const { error, output } = await runToEnd({ ...options, plugins: [counting] });
      const unavailable = ReviewUnavailableError.find(error);
      expect([unavailable?.code, done, output.taskOutputs.length]).to.deep.equal([
        "AE_REVIEW_UNAVAILABLE",
        0,
        0,
      ]);
      expect(unavailable?.message).to.match(/^Task 'Write' .*, but no reviewer can answer it$/);
    });

  it("fails the last task only if the policy requests no other review", async () => {
    const { error, output } = await runToEnd({
      tasks: [echo("a"), echo("b")],
      workflow: "SEQUENTIAL",
      reviewPolicy: "AFTER_LAST_TASK",
    });
    expect(ReviewUnavailableError.find(error)?.message).to.include("Task 'b'");
    expect(output.taskOutputs.map(({ raw }) => raw)).to.deep.equal(["a"]);
  });

  it("is not requested if it is to be skipped", async () => {
    const tasks = [required({ review: Review.skip() })];
    const { output } = await runToEnd({ tasks, reviewPolicy: "AFTER_EVERY_TASK" });
    expect(output.exitReason).to.equal("COMPLETED");
  });

  it("fails a task with a tool that requires approval at every call, before any cost arises", async () => {
    const model = new ScriptedModel(["done"]);
    const send = tool({
      name: "send",
      description: "Sends",
      requireApproval: true,
      execute: () => "sent",
    });
    const agent = new Agent({ role: "Clerk", goal: "g", model, tools: [send] });
    const byAgent = new Task({ description: "Do", agent });
    const byHandler = new Task({ description: "Do", handler: send });
    for (const task of [byAgent, byHandler]) {
      const { error } = await runToEnd({ tasks: [task] });
      expect(ReviewUnavailableError.find(error)?.message).to.include("Tool 'send'");
    }
    const shared = definePlugin({
      name: "shared",
      bind: (bind) => void bind.many(Tokens.Tool).toConstantValue(send),
    });
    const tasks = [new Task({ description: "Do", agent: agent.with({ tools: [] }) })];
    const { error } = await runToEnd({ tasks, plugins: [shared] });
    expect(ReviewUnavailableError.find(error)?.code).to.equal("AE_REVIEW_UNAVAILABLE");
    expect(model.requests).to.deep.equal([]);
  });

  it("waits if reviews outlive the process, and one warning states how to answer it", async () => {
    const inbox = reviewInbox();
    const store: ReviewStore = {
      ask: (request) => {
        setImmediate(() => inbox.resolve(request.reviewId, CONTINUE));
        return inbox.ask(request);
      },
      pending: () => inbox.pending(),
      resolve: (id, decision) => inbox.resolve(id, decision),
      waitFor: (id, signal) => inbox.waitFor(id, signal),
      onRequest: (fn) => inbox.onRequest(fn),
      isWatched: () => false,
      howToAnswer: (id) => `acme answer ${id}`,
    };
    const { output, events } = await runToEnd({
      tasks: [required(), required({ description: "Other" })],
      workflow: "SEQUENTIAL",
      plugins: [review({ store })],
    });
    expect(output.exitReason).to.equal("COMPLETED");
    const id = of(events, "review_requested")[0]?.reviewId ?? "";
    expect(of(events, "run_warning").map(({ message }) => message)).to.deep.equal([
      `The run waits for a review that this process can't answer. To answer it: acme answer ${id}`,
    ]);
  });
});

describe("a review that was decided before it is requested again", () => {
  it("does not wait, and has the deadline of the first request", async () => {
    const inbox = reviewInbox();
    const past = "2020-01-01T00:00:00.000Z";
    const store = (known: Partial<StoredReview>): ReviewStore => ({
      ask: (request) => inbox.ask({ ...request, ...known }),
      pending: () => inbox.pending(),
      resolve: (id, decision) => inbox.resolve(id, decision),
      waitFor: (id, signal) => inbox.waitFor(id, signal),
      onRequest: (fn) => inbox.onRequest(fn),
      isWatched: () => true,
    });
    const edited = await runToEnd(
      {
        tasks: [required()],
        plugins: [review({ store: store({ decision: ReviewDecision.edit("kept") }) })],
      },
      { runId: "edited" },
    );
    expect(edited.output.raw).to.equal("kept");
    const late = await runToEnd(
      { tasks: [required()], plugins: [review({ store: store({ deadline: past }) })] },
      { runId: "late" },
    );
    expect(late.output.exitReason).to.equal("TIMEOUT");
  });
});

describe("the trace of a run", () => {
  it("reports the decision and its author for each review, and none without a question", async () => {
    const silent = Review.of({ timeoutMs: 5, onTimeout: "CONTINUE" });
    const tasks = [required(), required({ description: "Other", review: silent })];
    const { output } = await ask({ tasks, workflow: "SEQUENTIAL" }, [
      ReviewDecision.edit("better", { by: "ana", comment: "too long" }),
      ({ signal }) => untilAborted(signal),
    ]);
    const told = output.trace.reviews?.map(({ description, decision, by, comment, timedOut }) => {
      return [description, decision, by, comment, timedOut];
    });
    expect(told).to.deep.equal([
      ["Write", "EDIT", "ana", "too long", false],
      ["Other", "CONTINUE", undefined, undefined, true],
    ]);
    const unasked = await runToEnd({ tasks: [echo("a")] });
    expect(unasked.output.trace.toJson()).to.not.include('"reviews"');
  });
});

describe("an edit", () => {
  it("of a structured output is described by a JSON Schema", async () => {
    const task = required({
      outputType: z.object({ total: z.number() }),
      handler: () => ({ total: 1 }),
    } as never);
    const { asked } = await ask({ tasks: [task, required()], workflow: "SEQUENTIAL" }, [CONTINUE]);
    expect(asked.map(({ editSchema }) => editSchema?.["required"])).to.deep.equal([
      ["total"],
      undefined,
    ]);
  });

  const Invoice = z.object({ total: z.number() });
  const invoice = (o: object = {}): Task<{ total: number }> =>
    new Task({
      description: "Invoice",
      outputType: Invoice,
      handler: () => ({ total: 1 }),
      review: Review.required("Sum right?"),
      ...o,
    });

  it("of a structured output is read by the schema", async () => {
    const { output } = await ask({ tasks: [invoice()] }, [ReviewDecision.edit('{"total": 2}')]);
    expect([output.raw, output.taskOutputs[0]?.parsed]).to.deep.equal([
      '{"total": 2}',
      { total: 2 },
    ]);
  });

  it("may be a bare text if the schema requires a text", async () => {
    const task = new Task({
      description: "Colour",
      outputType: z.enum(["red", "blue"]),
      handler: () => "red" as const,
      review: Review.required(),
    });
    const { output } = await ask({ tasks: [task] }, [ReviewDecision.edit("blue")]);
    expect(output.taskOutputs[0]?.parsed).to.equal("blue");
  });

  it("that is invalid is requested again, with the problem and the original output", async () => {
    const { asked, output } = await ask({ tasks: [invoice()] }, [
      ReviewDecision.edit('{"total": "two"}'),
      ReviewDecision.edit('{"total": 2}'),
    ]);
    expect(output.taskOutputs[0]?.parsed).to.deep.equal({ total: 2 });
    expect(asked.map(({ taskOutput }) => taskOutput)).to.deep.equal(['{"total":1}', '{"total":1}']);
    expect(asked[1]?.prompt).to.match(
      /^Sum right\?\nThis edit was not taken: total: .*\nIt was: \{"total": "two"\}$/,
    );
    expect(asked[1]?.reviewId).to.not.equal(asked[0]?.reviewId);
  });

  it("that does not match three times fails the task, and shows the reason", async () => {
    const { asked, error } = await ask({ tasks: [invoice()] }, [ReviewDecision.edit("two")]);
    expect(asked).to.have.length(3);
    expect(ReviewError.find(error)?.message).to.match(/^The edit of a review does not fit: /);
  });

  it("is judged by the guardrails again, and a refusal repeats the task if retries remain", async () => {
    let done = 0;
    const task = required({
      handler: () => `draft ${++done}`,
      outputGuardrails: [
        ({ raw }) => (raw.startsWith("draft") ? true : GuardrailResult.failure("no draft")),
      ],
      guardrailRetries: 1,
    });
    const { output, asked } = await ask({ tasks: [task] }, [
      ReviewDecision.edit("verse"),
      CONTINUE,
    ]);
    expect([output.raw, asked.length, asked[1]?.taskOutput]).to.deep.equal([
      "draft 2",
      2,
      "draft 2",
    ]);
    const { error } = await ask({ tasks: [task.with({ guardrailRetries: 0 })] }, [
      ReviewDecision.edit("verse"),
    ]);
    expect(GuardrailViolationError.find(error)?.violationMessage).to.equal("no draft");
  });

  it("without a change is not treated as an edit: the guardrails are not called again", async () => {
    let judged = 0;
    const task = required({
      outputGuardrails: [() => ++judged > 0 || GuardrailResult.failure("never")],
    });
    await ask({ tasks: [task] }, [ReviewDecision.edit("draft")]);
    expect(judged).to.equal(1);
  });

  it("is committed in place of the first text", async () => {
    const committed: string[] = [];
    const memory = tapping("memory", ({ hooks }) =>
      hooks.afterTask.tap(
        { name: "commit", lane: "commit" },
        (call) => void (call.outcome === "ok" && committed.push(call.output.raw)),
      ),
    );
    await ask({ tasks: [required()], plugins: [memory] }, [ReviewDecision.edit("final")]);
    await ask({ tasks: [echo("only task")], reviewPolicy: "AFTER_LAST_TASK", plugins: [memory] }, [
      ReviewDecision.edit("signed"),
    ]);
    expect(committed).to.deep.equal(["final", "signed"]);
  });
});

describe("a task that a tap answered", () => {
  it("is not reviewed again", async () => {
    const cache = tapping("cache", ({ hooks }) =>
      hooks.beforeTask.tap({ name: "cache", lane: "answer" }, () => answer({ raw: "cached" })),
    );
    const { asked, output } = await ask(
      { tasks: [required()], reviewPolicy: "AFTER_LAST_TASK", plugins: [cache] },
      [CONTINUE],
    );
    expect([asked.length, output.raw]).to.deep.equal([0, "cached"]);
  });
});

describe("many concurrent reviews", () => {
  it("wait concurrently, and an early exit of one does not end the others", async () => {
    const handler: ReviewHandler = async ({ taskDescription, signal }) => {
      await pause(taskDescription === "0" ? 5 : 20);
      return signal.aborted || taskDescription !== "0" ? CONTINUE : ReviewDecision.exitEarly();
    };
    const tasks = Array.from({ length: 20 }, (_, i) =>
      required({ description: String(i), handler: () => `out ${i}` }),
    );
    const join = new Task({ description: "join", context: tasks, handler: () => "joined" });
    const ensemble = new Ensemble({ tasks: [...tasks, join], reviewHandler: handler });
    const output = await ensemble.run();
    await ensemble.dispose();
    expect(output.exitReason).to.equal("USER_EXIT_EARLY");
    expect(output.taskOutputs.map(({ raw }) => raw)).to.deep.equal(tasks.map((_, i) => `out ${i}`));
  });
});
