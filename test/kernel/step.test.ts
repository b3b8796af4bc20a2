import { expect } from "chai";
import type { EnsembleHooks, LlmCall } from "../../src/contracts/hooks.js";
import type { HookPair } from "../../src/kernel/hooks/points.js";
import type { AfterPayload } from "../../src/kernel/hooks/step.js";
import { ExitEarlySignal, RunCancelledError, answer, reject, replace } from "agentensemble";
import { allPoints, createHookPoints, facadeFor } from "../../src/kernel/hooks/points.js";
import { Step, takeStep } from "../../src/kernel/hooks/step.js";

/** The call of a step that counts; hooks of model calls have all lanes. */
type Call = LlmCall & { readonly request: { readonly n: number } };
type Hooks = Pick<EnsembleHooks, "beforeLlmCall" | "afterLlmCall">;
type Parts = Partial<
  Pick<
    Step<Call, number>,
    "work" | "stopReason" | "check" | "admits" | "settle" | "done" | "resultIn" | "call"
  >
>;

const numbered = (n: number): { readonly request: never } => ({ request: { n } as never });
const doubled = (value: unknown): { readonly response: never } => ({ response: value as never });
const call = numbered(1) as unknown as Call; // all that is used of it

/** Doubles a number, and records its inputs in order. */
class Doubling extends Step<Call, number> {
  readonly seen: string[] = [];

  constructor(
    readonly hooks: HookPair,
    parts: Parts,
  ) {
    super(call);
    Object.assign(this, parts);
  }

  readonly warn = (): void => undefined;
  stopReason(): RunCancelledError | undefined {
    return undefined;
  }
  work(): number | PromiseLike<number> {
    this.seen.push("work");
    return this.call.request.n * 2;
  }
  override fromAnswer(value: unknown): number {
    this.seen.push("answer");
    return value as number;
  }
  override done(): void {
    this.seen.push(`done ${this.outcome}`);
  }
  afterPayload(): AfterPayload {
    const { outcome, result, error, call: left } = this;
    return result === undefined
      ? { outcome, error, ...left }
      : { outcome, response: result, ...left };
  }
  override resultIn({ response }: AfterPayload): number {
    return response as number;
  }
}

/** The hooks of a kernel with these taps. */
function tapped(taps: (hooks: Hooks) => void): HookPair {
  const points = createHookPoints();
  taps(facadeFor(points, "test"));
  for (const point of allPoints(points)) point.freeze();
  return points.llmCall;
}

async function take(taps: (hooks: Hooks) => void, parts: Parts = {}): Promise<Doubling> {
  const step = new Doubling(tapped(taps), parts);
  await takeStep(step);
  return step;
}

/** Records the outcome in the transform lane of the after hook. */
const outcomes = ({ afterLlmCall }: Hooks, seen: unknown[]): void =>
  afterLlmCall.tap(({ outcome }) => void seen.push(outcome));

describe("a step", () => {
  it("does its work, then is done, then shows the result to after taps", async () => {
    const order: unknown[] = [];
    const end = await take((hooks) => outcomes(hooks, order), {
      done: () => void order.push("done"),
    });
    expect(order).to.deep.equal(["done", "ok"]);
    expect(end.seen).to.deep.equal(["work"]);
    expect(end).to.include({ outcome: "ok", result: 2, reached: "work" });
  });

  it("is done once in each outcome, with and without taps", async () => {
    const stop = new RunCancelledError("stop");
    const ways: readonly (readonly [string, (hooks: Hooks) => void, Parts])[] = [
      ["ok", () => undefined, {}],
      [
        "answered",
        ({ beforeLlmCall }) =>
          beforeLlmCall.tap({ name: "a", lane: "answer" }, () => answer(5 as never)),
        {},
      ],
      ["rejected", ({ beforeLlmCall }) => beforeLlmCall.tap(() => reject("no")), {}],
      ["failed", () => undefined, { work: () => Promise.reject(new Error("broken")) }],
      ["aborted", () => undefined, { stopReason: () => stop }],
    ];
    for (const [outcome, taps, parts] of ways) {
      for (const watched of [false, true]) {
        const after: unknown[] = [];
        const end = await take((hooks) => {
          taps(hooks);
          if (watched) outcomes(hooks, after);
        }, parts);
        expect(end.outcome, outcome).to.equal(outcome);
        expect(end.seen.filter((what) => what.startsWith("done"))).to.deep.equal([
          `done ${outcome}`,
        ]);
        expect(after).to.deep.equal(watched ? [outcome] : []);
      }
    }
  });

  it("begins neither work nor answer after it was stopped, even while a tap was waiting", async () => {
    for (const lane of ["policy", "answer"] as const) {
      let reason: RunCancelledError | undefined;
      const end = await take(
        ({ beforeLlmCall }) =>
          beforeLlmCall.tap({ name: "slow", lane: lane as "answer" }, async () => {
            await Promise.resolve();
            reason = new RunCancelledError("stop");
            return lane === "answer" ? answer(5 as never) : undefined;
          }),
        { stopReason: () => reason },
      );
      expect(end).to.include({ outcome: "aborted", error: reason, reached: "hooks" });
      expect(end.seen).to.deep.equal(["done aborted"]);
    }
  });

  it("is aborted by an early exit of a tap or of the work", async () => {
    const signal = new ExitEarlySignal("enough");
    const end = await take(
      ({ beforeLlmCall }) =>
        beforeLlmCall.tap(() => {
          throw signal;
        }),
      {},
    );
    expect(end).to.include({ outcome: "aborted", error: signal, reached: "hooks" });
    const ofWork = await take(() => undefined, { work: () => Promise.reject(signal) });
    expect(ofWork).to.include({ outcome: "aborted", error: signal, reached: "work" });
  });

  it("shows after taps the changes made before a failed tap", async () => {
    const seen: unknown[] = [];
    const end = await take(({ beforeLlmCall, afterLlmCall }) => {
      beforeLlmCall.tap({ name: "t", lane: "transform" }, () => replace(numbered(7)));
      beforeLlmCall.tap(() => {
        throw new Error("broken guard");
      });
      afterLlmCall.tap(({ request, outcome }) => void seen.push(outcome, request));
    });
    expect(seen).to.deep.equal(["failed", { n: 7 }]);
    expect(end).to.include({ reached: "hooks" });
    expect(end.call.request).to.deep.equal({ n: 7 });
  });

  it("checks a changed call before policies judge it, and only then", async () => {
    const order: unknown[] = [];
    const taps =
      (changing: boolean) =>
      ({ beforeLlmCall }: Hooks): void => {
        beforeLlmCall.tap({ name: "t", lane: "transform" }, async () =>
          changing ? replace(numbered(7)) : undefined,
        );
        beforeLlmCall.tap(({ request }) => void order.push(request));
      };
    const check = (changed: Call): Call => {
      order.push("check");
      return { ...changed, ...numbered(8) };
    };
    expect((await take(taps(true), { check })).result).to.equal(16);
    expect(order).to.deep.equal(["check", { n: 8 }]);
    order.length = 0;
    expect((await take(taps(false), { check })).result).to.equal(2);
    expect(order).to.deep.equal([{ n: 1 }]);
  });

  it("is rejected before the policies by a check, and after the policies by an inadmissible result", async () => {
    const judged: string[] = [];
    const taps = ({ beforeLlmCall }: Hooks): void => {
      beforeLlmCall.tap({ name: "t", lane: "transform" }, () => replace(numbered(7)));
      beforeLlmCall.tap(() => void judged.push("policy"));
    };
    const refused = await take(taps, { check: async () => undefined });
    expect(refused).to.include({ outcome: "rejected", error: undefined, reached: "hooks" });
    expect(judged).to.deep.equal([]);
    const notAdmitted = await take(taps, { admits: () => false });
    expect(notAdmitted).to.include({ outcome: "rejected", error: undefined, reached: "hooks" });
    expect(judged).to.deep.equal(["policy"]);
  });

  it("returns the result as after taps changed it", async () => {
    const end = await take(({ afterLlmCall }) => {
      afterLlmCall.tap(() => replace(doubled(10)));
      afterLlmCall.tap({ name: "r", lane: "review" }, (c) =>
        replace(doubled(Number(c.response) + 1)),
      );
    });
    expect(end).to.include({ result: 11, outcome: "ok", accepted: false });
  });

  it("keeps the accepted result if a commit tap fails, but not if an earlier tap fails", async () => {
    for (const lane of ["commit", "review", "policy"] as const) {
      const end = await take(({ afterLlmCall }) => {
        afterLlmCall.tap(() => replace(doubled(10)));
        afterLlmCall.tap({ name: "broken", lane: lane as "commit" }, () => {
          throw new Error("disk full");
        });
      });
      expect(end.afterHookError, lane).to.have.nested.property("cause.message", "disk full");
      expect(end).to.include({ accepted: lane === "commit", result: 10, outcome: "ok" });
    }
  });

  it("keeps the early exit of a review, and judges and commits the reviewed result", async () => {
    const signal = new ExitEarlySignal("enough");
    for (const later of [false, true]) {
      const order: string[] = [];
      const end = await take(({ afterLlmCall }) => {
        afterLlmCall.tap({ name: "edit", lane: "review" }, () => replace(doubled(10)));
        afterLlmCall.tap({ name: "exit", lane: "review" }, async () => {
          if (later) await Promise.resolve();
          throw signal;
        });
        afterLlmCall.tap(
          { name: "p", lane: "policy" },
          (c) => void order.push(`policy ${JSON.stringify(c.response)}`),
        );
        afterLlmCall.tap(
          { name: "c", lane: "commit" },
          (c) => void order.push(`commit ${JSON.stringify(c.response)}`),
        );
      });
      expect(end).to.include({
        earlyExit: signal,
        afterHookError: undefined,
        accepted: true,
        result: 10,
      });
      expect(order).to.deep.equal(["policy 2", "policy 10", "commit 10"]);
    }
  });

  it("keeps the refusal of an after policy separate from the result", async () => {
    const end = await take(({ afterLlmCall }) =>
      afterLlmCall.tap({ name: "p", lane: "policy" }, () => reject("too long")),
    );
    expect(end.rejection).to.have.property("reason", "too long");
    expect(end).to.include({ outcome: "ok", result: 2, accepted: false });
  });

  it("keeps the failed result if the changed result can't be read", async () => {
    const problem = new Error("no number");
    const end = await take(({ afterLlmCall }) => afterLlmCall.tap(() => replace(doubled(10))), {
      resultIn: () => {
        throw problem;
      },
    });
    expect(end.afterHookError).to.equal(problem);
  });

  it("waits for its hooks within its own limit, and does not wait if all taps return synchronously", async () => {
    const waits: unknown[] = [];
    const settle = <T>(fired: Promise<T>): Promise<T> => (waits.push("wait"), fired);
    const taps =
      (slow: boolean) =>
      ({ beforeLlmCall, afterLlmCall }: Hooks): void => {
        const tap = slow ? async (): Promise<void> => undefined : (): void => undefined;
        beforeLlmCall.tap(tap);
        afterLlmCall.tap(tap);
      };
    await take(taps(false), { settle });
    expect(waits).to.deep.equal([]);
    await take(taps(true), { settle });
    expect(waits).to.deep.equal(["wait", "wait"]);
  });

  it("separates concurrent steps", async () => {
    const hooks = tapped(({ beforeLlmCall, afterLlmCall }) => {
      beforeLlmCall.tap({ name: "t", lane: "transform" }, async ({ request }) => {
        await Promise.resolve();
        return replace(numbered((request as unknown as { n: number }).n + 1));
      });
      afterLlmCall.tap(async (c) => {
        await Promise.resolve();
        return replace(doubled(Number(c.response) + 100));
      });
    });
    const steps = [1, 2, 3].map((n) => new Doubling(hooks, { call: { ...call, ...numbered(n) } }));
    await Promise.all(steps.map(takeStep<Call, number>));
    expect(steps.map(({ result }) => result)).to.deep.equal([104, 106, 108]);
  });
});
