import { expect } from "chai";
import type {
  EnsembleOptions,
  NetworkBackend as Backend,
  ReviewHandler,
  ReviewRequest,
} from "../../src/index.js";
import type { NetworkCallOptions } from "../../src/plugins/network/calling/index.js";
import { Agent, Ensemble, Review, ReviewDecision, Task } from "../../src/index.js";
import { network, NetworkTask } from "../../src/plugins/network/calling/index.js";
import { NetworkBackend } from "../../src/plugins/network/shared/backends.js";
import { review } from "../../src/plugins/review/gate/index.js";
import { reviewInbox } from "../../src/plugins/review/gate/review-inbox.js";
import { recordingListener } from "../../src/plugins/testing/recording-listener.js";
import { ScriptedModel } from "../../src/plugins/testing/scripted-model.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { until } from "../support/time.js";
import { gate, requests, resultOf } from "./support.js";

/** A service whose task requests a review before it serves. */
function kitchen(o: Parameters<typeof Review.of>[0] = {}, more: Partial<EnsembleOptions> = {}) {
  return new Ensemble({
    name: "kitchen",
    shareTasks: {
      serve: new Task({
        description: "Serve {context}",
        handler: ({ inputs }) => `${String(inputs["context"])}, hot`,
        review: Review.of({ prompt: "Serve it?", timeoutMs: 60_000, ...o }),
      }),
    },
    ...more,
  });
}

/** The result of a tool for the agent of a caller. */
async function served(
  place: { readonly backend: Backend } | { readonly url: string },
  options: Partial<EnsembleOptions> = {},
  call: NetworkCallOptions = {},
): Promise<{ readonly text: string; readonly warnings: readonly string[] }> {
  const model = new ScriptedModel([
    { toolCalls: [{ name: "kitchen__serve", arguments: { context: "soup" } }] },
    { text: "done" },
  ]);
  const seen = recordingListener();
  const tools = [NetworkTask.from("kitchen", "serve", { reviews: "forward", ...call })];
  const { plugins = [], ...rest } = options;
  await using caller = new Ensemble({
    model,
    listeners: [seen],
    plugins: [
      network({ name: "hotel", ensembles: { kitchen: "url" in place ? place : place.backend } }),
      ...plugins,
    ],
    tasks: [
      new Task({
        description: "Serve",
        agent: new Agent({ role: "Waiter", goal: "Serve", tools }),
      }),
    ],
    ...rest,
  });
  await caller.run();
  return {
    text: seen.of("tool_called")[0]?.toolResult ?? "",
    warnings: seen.of("run_warning").map(({ message }) => message),
  };
}

/** A handler that records its questions. */
function answering(decide: () => ReviewDecision | Promise<ReviewDecision>) {
  const asked: ReviewRequest[] = [];
  const reviewHandler: ReviewHandler = (request) => {
    asked.push(request);
    return decide();
  };
  return { asked, reviewHandler };
}

describe("a review of a service that is forwarded to the caller", () => {
  for (const kind of ["memory", "file", "A2A"] as const)
    it(`is answered by the caller's reviewHandler over ${kind}`, async () => {
      const backend =
        kind === "file" ? NetworkBackend.file(temporaryFolder()) : NetworkBackend.inMemory();
      await using service = kitchen();
      const { url = "" } = await service.start({ backend, port: 0, signals: false });
      const { asked, reviewHandler } = answering(() => ReviewDecision.edit("cold soup"));
      const result = await served(kind === "A2A" ? { url } : { backend }, { reviewHandler });
      expect(result.text).to.equal("cold soup");
      expect(asked).to.have.length(1);
      expect(asked[0]).to.include({ prompt: "Serve it?", taskOutput: "soup, hot" });
      expect(asked[0]?.taskDescription).to.contain("'kitchen'");
      expect(asked[0]?.timeoutMs).to.be.within(1, 60_000);
      await service.dispose();
      await backend.close();
    });

  it("is in the caller's review store, and any of its reviewers may answer", async () => {
    const backend = NetworkBackend.inMemory();
    await using service = kitchen();
    await service.start({ backend, signals: false });
    const inbox = reviewInbox();
    const result = served({ backend }, { plugins: [review({ store: inbox })] });
    await until(() => inbox.pending().length === 1);
    const [open] = inbox.pending();
    expect(open?.prompt).to.equal("Serve it?");
    expect(inbox.resolve(open?.reviewId ?? "", ReviewDecision.continue()).outcome).to.equal(
      "resolved",
    );
    expect((await result).text).to.equal("soup, hot");
  });

  it("ends at the caller if the service answers first", async () => {
    const backend = NetworkBackend.inMemory();
    const theirs = reviewInbox();
    await using service = kitchen({}, { plugins: [review({ store: theirs })] });
    await service.start({ backend, signals: false });
    const ours = reviewInbox();
    const result = served({ backend }, { plugins: [review({ store: ours })] });
    await until(() => ours.pending().length === 1 && theirs.pending().length === 1);
    theirs.resolve(theirs.pending()[0]?.reviewId ?? "", ReviewDecision.edit("theirs"));
    const reviewId = ours.pending()[0]?.reviewId ?? "";
    expect(await result).to.deep.equal({ text: "theirs", warnings: [] });
    expect(ours.resolve(reviewId, ReviewDecision.edit("ours")).outcome).to.equal("over");
  });

  it("ends by the time limit of the service without an answer", async () => {
    const backend = NetworkBackend.inMemory();
    await using service = kitchen({ timeoutMs: 50, onTimeout: "CONTINUE" });
    await service.start({ backend, signals: false });
    const result = await served({ backend }, { plugins: [review({ store: reviewInbox() })] });
    expect(result).to.deep.equal({ text: "soup, hot", warnings: [] });
  });

  it("ends with the task of the caller", async () => {
    const backend = NetworkBackend.inMemory();
    await using service = kitchen();
    await service.start({ backend, signals: false });
    const never = gate<ReviewDecision>();
    const { asked, reviewHandler } = answering(() => never.opened);
    const stop = new AbortController();
    const tools = [NetworkTask.from("kitchen", "serve", { reviews: "forward" })];
    await using caller = new Ensemble({
      model: new ScriptedModel([
        { toolCalls: [{ name: "kitchen__serve", arguments: { context: "soup" } }] },
      ]),
      plugins: [network({ name: "hotel", backend })],
      tasks: [
        new Task({ description: "Serve", agent: new Agent({ role: "W", goal: "S", tools }) }),
      ],
      reviewHandler,
    });
    const run = caller.run({}, { signal: stop.signal }).catch((error: unknown) => error);
    await until(() => asked.length === 1);
    stop.abort();
    expect(await run).to.be.instanceOf(Error);
    await until(() => asked[0]?.signal.aborted === true);
    await until(async () => (await backend.queue.depth("kitchen")).leased === 0);
  });

  it("is refused before the request if no reviewer of the caller can answer", async () => {
    const backend = NetworkBackend.inMemory();
    const { text } = await served({ backend });
    expect(text).to.match(/No reviewer can answer the reviews of ensemble 'kitchen'/);
    expect((await backend.queue.depth("kitchen")).queued).to.equal(0);
  });

  it("is sent again with its id until its answer arrives", async () => {
    const backend = NetworkBackend.inMemory();
    let lost = 0;
    const { topics } = backend;
    const losing: Backend = {
      ...backend,
      topics: {
        subscribe: (...args) => topics.subscribe(...args),
        publish: async (topic, message) => {
          if (topic.startsWith("progress.") && JSON.stringify(message).includes("question"))
            if (++lost === 1) return; // the first question is lost
          await topics.publish(topic, message);
        },
      },
    };
    await using service = kitchen();
    await service.start({ backend: losing, signals: false });
    const { asked, reviewHandler } = answering(() => ReviewDecision.continue());
    const result = await served({ backend }, { reviewHandler });
    expect(result).to.deep.equal({ text: "soup, hot", warnings: [] });
    expect([asked.length, lost >= 2]).to.deep.equal([1, true]);
  });

  it("requires a tool that waits", () => {
    const onComplete = (): void => undefined;
    const inBackground: readonly NetworkCallOptions[] = [
      { mode: "ASYNC", onComplete },
      {
        mode: "AWAIT_WITH_DEADLINE",
        deadlineMs: 5,
        onDeadline: "CONTINUE_IN_BACKGROUND",
        onComplete,
      },
    ];
    for (const more of inBackground)
      expect(() => NetworkTask.from("kitchen", "serve", { reviews: "forward", ...more })).to.throw(
        /requires that the tool waits/,
      );
    expect(() => NetworkTask.from("kitchen", "serve", { reviews: "ours" as "theirs" })).to.throw(
      /reviews must be one of/,
    );
  });

  it("does not delay other runs of the service, which have no reviewer", async () => {
    const backend = NetworkBackend.inMemory();
    await using service = kitchen();
    await service.start({ backend, port: 0, signals: false });
    const plain = requests()("serve", { context: "soup" });
    await backend.queue.enqueue("kitchen", plain);
    const response = await resultOf(backend, plain.requestId);
    expect(response).to.include({ status: "FAILED" });
    expect(response.error).to.match(/requires a review/);
  });
});
