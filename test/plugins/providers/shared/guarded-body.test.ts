import { expect } from "chai";
import { InvalidResponseError } from "../../../../src/plugins/providers/shared/invalid-response-error.js";
import { CallDeadline } from "../../../../src/plugins/providers/shared/call-deadline.js";
import { GuardedBody } from "../../../../src/plugins/providers/shared/guarded-body.js";
import { rejectionOf } from "../../../support/rejection.js";

// With created responses, as a user's own fetch function may return them.
describe("GuardedBody", () => {
  let deadline: CallDeadline;
  beforeEach(
    () =>
      (deadline = new CallDeadline(
        undefined,
        { timeoutMs: 60_000, idleTimeoutMs: 60_000 },
        () => new Error("late"),
      )),
  );
  afterEach(() => deadline.close({ isDone: true }));

  const body = (response: Response, maxBytes = 1000): GuardedBody =>
    new GuardedBody(response, deadline, maxBytes);

  async function text(guarded: GuardedBody): Promise<string> {
    let all = "";
    for (let piece = await guarded.next(); piece !== undefined; piece = await guarded.next())
      all += piece;
    return all;
  }

  /** An endless body that reports its cancellation. */
  function endless(): { readonly response: Response; readonly cancelled: Promise<void> } {
    let tell = (): void => undefined;
    const cancelled = new Promise<void>((resolve) => (tell = resolve));
    const stream = new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode("x".repeat(100))),
      cancel: () => tell(),
    });
    return { response: new Response(stream), cancelled };
  }

  it("reads a body to its end, and a missing body as empty", async () => {
    expect(await text(body(new Response("Grüße")))).to.equal("Grüße");
    expect(await text(body(new Response(null, { status: 204 })))).to.equal("");
  });

  it("refuses a body that is shorter than announced", async () => {
    await rejectionOf(
      InvalidResponseError,
      text(body(new Response("abc", { headers: { "content-length": "10" } }))),
    );
  });

  it("does not compare lengths if the body was compressed", async () => {
    expect(
      await text(
        body(
          new Response("abc", { headers: { "content-length": "10", "content-encoding": "gzip" } }),
        ),
      ),
    ).to.equal("abc");
  });

  it("refuses a body that is too large, and closes it", async () => {
    const { response, cancelled } = endless();
    const guarded = body(response);
    await rejectionOf(InvalidResponseError, text(guarded));
    guarded.close();
    await cancelled;
  });

  it("refuses a body that is announced as too large before it reads any of it", async () => {
    const e = await rejectionOf(
      InvalidResponseError,
      text(body(new Response("abc", { headers: { "content-length": "5000" } }))),
    );
    expect(e.hint).to.contain("maxResponseBytes");
  });

  it("closes a body that does not end soon after its answer was complete", async () => {
    const { response, cancelled } = endless();
    await body(response).release();
    await cancelled;
  });

  it("ends with the call, with its reason", async () => {
    const reading = rejectionOf(Error, text(body(new Response(new ReadableStream()))));
    const late = new CallDeadline(
      AbortSignal.abort(new Error("stop")),
      { timeoutMs: 60_000, idleTimeoutMs: 60_000 },
      () => new Error("late"),
    );
    const stopped = rejectionOf(
      Error,
      text(new GuardedBody(new Response(new ReadableStream()), late, 1000)),
    );
    expect((await stopped).message).to.equal("stop");
    late.close({ isDone: true });
    deadline.close({ isDone: false });
    expect((await reading).name).to.equal("AbortError");
  });
});
