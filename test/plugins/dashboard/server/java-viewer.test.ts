import { Agent, Ensemble, Review, Task, type Kernel, type RunHandle } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { Boards } from "./boards.js";
import { SocketClient } from "./client.js";

function team(kernel: Kernel): RunHandle {
  return new Ensemble({
    kernel,
    model: new ScriptedModel([{ chunks: ["A long ", "answer about swifts."] }]),
    tasks: [
      new Task({
        name: "t",
        description: "Write",
        agent: new Agent({ role: "Writer", goal: "g" }),
        review: Review.required("Good?"),
      }),
    ],
  }).stream();
}

describe("a viewer of the Java version", () => {
  const boards = new Boards();
  afterEach(() => boards.end());
  const viewing = (url: string): SocketClient => {
    const viewer = new SocketClient(url, []);
    boards.later(() => viewer.close());
    return viewer;
  };

  it("receives a run, answers its review, and its dialog is closed", async () => {
    const { board, url } = await boards.listening();
    const viewer = viewing(url);
    expect(await viewer.frame("hello")).to.deep.equal({ type: "hello" });
    const run = team(boards.kernel(board));
    const asked = await viewer.frame("review_requested");
    expect(asked).to.include({ taskOutput: "A long answer about swifts.", prompt: "Good?" });
    viewer.send({ type: "review_decision", reviewId: asked["reviewId"], decision: "CONTINUE" });
    await run.output;
    await viewer.frame("ensemble_completed");
    const types = viewer.frames.map(({ type }) => type).filter((type) => type !== "token");
    expect(types).to.deep.equal([
      "hello",
      "ensemble_started",
      "task_started",
      "task_input",
      "llm_iteration_started",
      "llm_iteration_completed",
      "review_requested",
      "review_timed_out",
      "task_completed",
      "ensemble_completed",
    ]);
    expect(await viewer.frame("ensemble_started")).to.include({ ensembleId: run.id });
    viewer.send({ type: "ping" });
    await viewer.frame("pong");
  });

  it("that connects later receives the earlier events, and the waiting reviews", async () => {
    const { board, url } = await boards.listening();
    const first = viewing(url);
    await first.frame("hello");
    const run = team(boards.kernel(board));
    await first.frame("review_requested");
    const late = viewing(url);
    const hello = await late.frame("hello");
    expect(hello).to.include({ ensembleId: run.id });
    expect(
      (hello["snapshotTrace"] as readonly { readonly type: string }[]).map(({ type }) => type),
    ).to.deep.equal(["ensemble_started", "task_started", "task_input"]);
    expect(hello["recentIterations"]).to.have.lengthOf(1);
    const { reviewId } = await late.frame("review_requested");
    late.send({ type: "review_decision", reviewId, decision: "EDIT", revisedOutput: "better" });
    expect((await run.output).raw).to.equal("better");
    await first.frame("review_timed_out");
  });

  it("may come from an allowed origin, and signs in with the first message if required", async () => {
    const { url } = await boards.listening({
      token: "t",
      allowedOrigins: ["http://localhost:7328"],
    });
    const viewer = new SocketClient(url, [], { origin: "http://localhost:7328" });
    boards.later(() => viewer.close());
    await new Promise((resolve) => viewer.socket.once("open", resolve));
    viewer.send({ type: "auth", token: "t" });
    await viewer.frame("hello");
  });
});
