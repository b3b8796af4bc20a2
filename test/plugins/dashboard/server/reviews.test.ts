import { Ensemble, Review, ReviewDecision, Task, type Kernel, type RunHandle } from "agentensemble";
import { reviewInbox } from "agentensemble/review";
import { expect } from "chai";
import type { ReviewListBody } from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import type { StoredReview } from "../../../../src/contracts/review.js";
import type { ReviewOptions } from "../../../../src/contracts/review.js";
import { review } from "../../../../src/plugins/review/gate/index.js";
import { Boards } from "./boards.js";
import { ask, askJson, fromPage, SocketClient, type Answer } from "./client.js";

/** A run whose only task waits for a review. */
function asking(kernel: Kernel, o: ReviewOptions = {}): RunHandle {
  return new Ensemble({
    kernel,
    tasks: [
      new Task({ name: "t", description: "Write", handler: () => "draft", review: Review.of(o) }),
    ],
  }).stream();
}

describe("the reviews of a dashboard", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  const waiting = async (url: string, headers = {}): Promise<StoredReview> => {
    for (;;) {
      const path = "/api/reviews?state=waiting";
      const { reviews } = await askJson<ReviewListBody>(url, path, { headers });
      const [first] = reviews;
      if (first !== undefined) return first as StoredReview; // it waits
    }
  };
  const answer = (
    url: string,
    reviewId: string,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> =>
    ask(url, `/api/reviews/${reviewId}`, {
      method: "POST",
      headers: { ...fromPage(url), ...headers },
      body: JSON.stringify(body),
    });

  it("are listed in full and answered, and a second answer receives the first decision", async () => {
    const { board, url } = await boards.listening();
    const run = asking(boards.kernel(board), { prompt: "Good enough?" });
    const asked = await waiting(url);
    expect(asked).to.include({
      runId: run.id,
      taskId: "t",
      taskOutput: "draft",
      prompt: "Good enough?",
      onTimeout: "EXIT_EARLY",
    });
    const first = await answer(url, asked.reviewId, {
      decision: "edit",
      revisedOutput: "better",
      comment: "shorter",
    });
    expect(first.status).to.equal(200);
    expect(JSON.parse(first.text)).to.deep.equal({
      reviewId: asked.reviewId,
      decision: "edit",
      status: "APPLIED",
      by: "local",
    });
    expect((await run.output).raw).to.equal("better");
    const second = await answer(url, asked.reviewId, { decision: "approve" });
    expect(second.status).to.equal(409);
    expect(JSON.parse(second.text)).to.include({
      error: "REVIEW_RESOLVED",
      by: "local",
      decision: "edit",
    });
    const { reviews } = await askJson<ReviewListBody>(url, `/api/reviews?runId=${run.id}`);
    expect(reviews).to.have.lengthOf(1);
    expect(reviews[0]).to.include({ decision: "EDIT", by: "local", comment: "shorter" });
  });

  it("are empty if the ensemble has a handler, which answers", async () => {
    const { board, url } = await boards.listening();
    const prompts: (string | undefined)[] = [];
    const run = new Ensemble({
      kernel: boards.kernel(board),
      reviewHandler: ({ prompt }) => {
        prompts.push(prompt);
        return Promise.resolve(ReviewDecision.edit("by the handler"));
      },
      tasks: [
        new Task({
          name: "t",
          description: "Write",
          handler: () => "draft",
          review: Review.of({ prompt: "Good enough?" }),
        }),
      ],
    }).stream();
    expect((await run.output).raw).to.equal("by the handler");
    expect(prompts).to.deep.equal(["Good enough?"]);
    const { reviews } = await askJson<ReviewListBody>(url, "/api/reviews?state=waiting");
    expect(reviews).to.deep.equal([]);
  });

  it("accept each decision in any case, and refuse invalid ones", async () => {
    const { board, url } = await boards.listening();
    const run = asking(boards.kernel(board));
    const { reviewId } = await waiting(url);
    for (const body of [
      {},
      { decision: "yes" },
      { decision: "edit" },
      { decision: "approve", revisedOutput: "x" },
      { decision: "approve", comment: 1 },
      { decision: "approve", coment: "x" },
      { decision: "approve", comment: "x".repeat(10_001) },
    ]) {
      const { status, text } = await answer(url, reviewId, body);
      expect(status, JSON.stringify(body).slice(0, 60)).to.equal(400);
      expect(JSON.parse(text)).to.include({ error: "BAD_REQUEST" });
    }
    expect((await answer(url, "unknown", { decision: "approve" })).status).to.equal(404);
    expect((await answer(url, reviewId, { decision: "EXIT_EARLY" })).status).to.equal(200);
    expect((await run.output).exitReason).to.equal("USER_EXIT_EARLY");
  });

  it("are over for an answer after the deadline, or after the end of the run", async () => {
    const { board, url } = await boards.listening();
    const kernel = boards.kernel(board);
    const late = asking(kernel, { timeoutMs: 30, onTimeout: "CONTINUE" });
    const expired = await waiting(url);
    await late.output;
    const answered = await answer(url, expired.reviewId, { decision: "approve" });
    expect(answered.status).to.equal(410);
    expect(JSON.parse(answered.text)).to.include({ error: "REVIEW_EXPIRED", decision: "continue" });
    const cancelled = asking(kernel);
    const { reviewId } = await waiting(url);
    cancelled.cancel();
    await cancelled.output.catch(() => undefined);
    expect((await answer(url, reviewId, { decision: "approve" })).status).to.equal(410);
  });

  it("require the role that they name", async () => {
    const users = [
      { name: "rae", role: "reviewer", token: "t-rae" },
      { name: "lee", role: "reviewer", token: "t-lee", reviewRoles: ["legal"] },
      { name: "ann", role: "operator", token: "t-ann", reviewRoles: ["*"] },
      { name: "bob", role: "operator", token: "t-bob" },
    ] as const;
    const { board, url } = await boards.listening({ users });
    const kernel = boards.kernel(board);
    const by = (name: string): Record<string, string> => ({ authorization: `Bearer t-${name}` });
    for (const name of ["lee", "ann"]) {
      const run = asking(kernel, { requiredRole: "legal" });
      const { reviewId } = await waiting(url, by("rae"));
      for (const other of ["rae", "bob"]) {
        const refused = await answer(url, reviewId, { decision: "approve" }, by(other));
        expect(refused.status, other).to.equal(403);
        expect(JSON.parse(refused.text)).to.include({
          error: "ROLE_REQUIRED",
          requiredRole: "legal",
        });
      }
      const taken = await answer(url, reviewId, { decision: "approve" }, by(name));
      expect(taken.status, name).to.equal(200);
      expect(JSON.parse(taken.text)).to.include({ by: name });
      await run.output;
    }
  });

  it("refuse an invalid edit before it reaches the run", async () => {
    const { board, url } = await boards.listening();
    const inbox = reviewInbox();
    const kernel = boards.kernel(board, review({ store: inbox }));
    await boards.ensemble(kernel).run();
    const now = new Date().toISOString();
    const editSchema = { type: "object", properties: { days: { type: "integer" } } };
    inbox.ask({
      reviewId: "r1",
      runId: "run",
      taskId: "t",
      agentRole: "a",
      taskDescription: "d",
      taskOutput: "{}",
      timing: "DURING_EXECUTION",
      toolName: "book",
      editSchema,
      requestedAt: now,
      timeoutMs: 0,
      onTimeout: "FAIL",
    });
    const wrong = await answer(url, "r1", { decision: "edit", revisedOutput: '{"days":"two"}' });
    expect(wrong.status).to.equal(422);
    expect(JSON.parse(wrong.text)).to.include({ error: "EDIT_INVALID" });
    const right = await answer(url, "r1", { decision: "edit", revisedOutput: '{"days":2}' });
    expect(right.status).to.equal(200);
  });

  it("accept one of two concurrent answers, including answers over the socket", async () => {
    const audited: string[] = [];
    const { board, url } = await boards.listening({
      onAudit: ({ action, detail }) => audited.push(`${action} ${detail}`),
    });
    const [one, other] = [new SocketClient(url), new SocketClient(url)];
    for (const page of [one, other]) {
      boards.later(() => page.close());
      await page.frame("hello");
    }
    const run = asking(boards.kernel(board));
    const asked = await one.frame(
      ({ type, pending }) => type === "reviews" && (pending as object[]).length > 0,
    );
    const [{ reviewId }] = asked["pending"] as [StoredReview];
    for (const page of [one, other])
      page.send({ type: "review_decision", reviewId, decision: "approve", comment: "ok" });
    const acks = [await one.frame("review_ack"), await other.frame("review_ack")];
    expect(acks.map(({ status }) => status)).to.have.members(["APPLIED", "RESOLVED"]);
    expect(acks.every(({ by }) => by === "local")).to.equal(true);
    await run.output;
    const last = await other.frame(
      ({ type, answered }) => type === "reviews" && (answered as object[]).length > 0,
    );
    expect(last["pending"]).to.deep.equal([]);
    expect(audited).to.deep.equal(["review continue"]);
    one.send({ type: "review_decision", reviewId: "none", decision: "approve" });
    await one.frame(({ reviewId: id }) => id === "none");
  });

  it("are available to a page that connects late, and closing all pages decides nothing", async () => {
    const { board, url } = await boards.listening();
    const run = asking(boards.kernel(board));
    const { reviewId } = await waiting(url);
    const page = new SocketClient(url);
    const hello = await page.frame("hello");
    expect(hello["reviews"]).to.have.nested.property("[0].reviewId", reviewId);
    await page.close();
    expect((await waiting(url)).reviewId).to.equal(reviewId);
    await answer(url, reviewId, { decision: "approve" });
    await run.output;
  });

  it("are announced with a link, and a failed announcement has no effect", async () => {
    const { board, url } = await boards.listening();
    const seen: string[] = [];
    const stop = board.onReview(({ reviewId }, link) => void seen.push(`${reviewId} ${link}`));
    board.onReview(() => {
      throw new Error("the mail server is away");
    });
    const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
    const run = asking(boards.kernel(board));
    const { reviewId } = await waiting(url);
    expect(seen).to.deep.equal([`${reviewId} ${url}#/reviews/${reviewId}`]);
    expect((await warned).message).to.include("the mail server is away");
    stop();
    await answer(url, reviewId, { decision: "approve" });
    await run.output;
  });
});
