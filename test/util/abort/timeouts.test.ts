import { expect } from "chai";
import { Cancellation } from "../../../src/util/abort/cancellation.js";
import {
  type Ender,
  firstEnding,
  settleWithin,
  sleep,
  withTimeout,
} from "../../../src/util/abort/timeouts.js";
import { rejection } from "../../support/rejection.js";
import { listeners, timers } from "../../support/waiting.js";

const REASON = new Error("the reason");
const NEVER = new Promise<never>(() => undefined);
const LONG = 60_000;

/** The two causes of the end of a wait, each with its trigger. */
const ENDERS: Readonly<Record<string, () => { readonly ender: Ender; end(): void }>> = {
  "a signal": () => {
    const controller = new AbortController();
    return { ender: controller.signal, end: () => controller.abort(REASON) };
  },
  "a cancellation": () => {
    const ender = new Cancellation();
    return { ender, end: () => ender.cancel(REASON) };
  },
};

let timersBefore: number;

describe("waiting with limits", () => {
  beforeEach(() => void (timersBefore = timers()));
  afterEach("no timer is left", () => expect(timers()).to.equal(timersBefore));

  for (const [what, make] of Object.entries(ENDERS)) {
    describe(`with ${what}`, () => {
      it("settleWithin returns the result of the work, and its error", async () => {
        const { ender, end } = make();
        expect(await settleWithin(Promise.resolve(1), ender)).to.equal(1);
        expect(await rejection(settleWithin(Promise.reject(REASON), ender, LONG))).to.equal(REASON);
        if (ender instanceof AbortSignal) expect(listeners(ender)).to.equal(0);
        end();
      });

      it("settleWithin rejects with the reason on the abort, and immediately after it", async () => {
        const { ender, end } = make();
        const waiting = rejection(settleWithin(NEVER, ender));
        end();
        expect(await waiting).to.equal(REASON);
        expect(await rejection(settleWithin(Promise.resolve(1), ender))).to.equal(REASON);
      });

      it("settleWithin waits for the grace period of the work", async () => {
        const { ender, end } = make();
        const slow = settleWithin(
          new Promise((resolve) => setTimeout(resolve, 2, "done")),
          ender,
          LONG,
        );
        const hanging = rejection(settleWithin(NEVER, ender, 1));
        end();
        expect(await slow).to.equal("done");
        expect(await hanging).to.equal(REASON);
      });

      it("sleep ends with the time or with the reason", async () => {
        const { ender, end } = make();
        await sleep(1, ender);
        if (ender instanceof AbortSignal) expect(listeners(ender)).to.equal(0);
        const sleeping = rejection(sleep(LONG, ender));
        end();
        expect(await sleeping).to.equal(REASON);
        expect(await rejection(sleep(LONG, ender))).to.equal(REASON);
      });

      it("firstEnding returns the first event", async () => {
        const { ender, end } = make();
        const o = { timeoutMs: LONG, signal: ender };
        expect(await firstEnding(Promise.resolve(), o)).to.equal("done");
        expect(await firstEnding(Promise.reject(REASON), o)).to.equal("done");
        expect(await firstEnding(NEVER, { ...o, timeoutMs: 1 })).to.equal("late");
        const ending = firstEnding(NEVER, o);
        end();
        expect(await ending).to.equal("aborted");
        expect(await firstEnding(Promise.resolve(), o)).to.equal("aborted");
        if (ender instanceof AbortSignal) expect(listeners(ender)).to.equal(0);
      });
    });
  }

  it("sleep and firstEnding work without a signal", async () => {
    await sleep(1);
    expect(await firstEnding(Promise.resolve(), {})).to.equal("done");
    expect(await firstEnding(NEVER, { timeoutMs: 1 })).to.equal("late");
  });
});

describe("withTimeout", () => {
  const late = (): string => "late";

  beforeEach(() => void (timersBefore = timers()));
  afterEach("no timer is left", () => expect(timers()).to.equal(timersBefore));

  it("returns the result of the work, immediate or later", async () => {
    const { signal } = new AbortController();
    expect(await withTimeout(() => 1, { ms: LONG, late, signal })).to.equal(1);
    expect(await withTimeout(async () => 2, { ms: Infinity, late })).to.equal(2);
    expect(listeners(signal)).to.equal(0);
  });

  it("rejects with the error of the work", async () => {
    const fail = (): never => {
      throw REASON;
    };
    expect(await rejection(withTimeout(fail, { ms: LONG, late }))).to.equal(REASON);
    expect(await rejection(withTimeout(() => Promise.reject(REASON), { ms: LONG, late }))).to.equal(
      REASON,
    );
  });

  it("returns the result or throws the error of `late` at the limit, also for work that ends with its signal", async () => {
    let seen: AbortSignal | undefined;
    const hang = (signal: AbortSignal): Promise<never> => ((seen = signal), NEVER);
    expect(await withTimeout(hang, { ms: 1, late })).to.equal("late");
    expect(seen?.aborted).to.equal(true);
    const obedient = (signal: AbortSignal): Promise<never> =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    expect(await withTimeout(obedient, { ms: 1, late })).to.equal("late");
    const fail = (): never => {
      throw REASON;
    };
    expect(await rejection(withTimeout(hang, { ms: 1, late: fail }))).to.equal(REASON);
  });

  it("ends with its signal, whose reason reaches the work", async () => {
    for (const ended of [undefined, () => REASON]) {
      const controller = new AbortController();
      let seen: AbortSignal | undefined;
      const ending = rejection(
        withTimeout((signal) => ((seen = signal), NEVER), {
          ms: LONG,
          late,
          signal: controller.signal,
          ended,
        }),
      );
      const reason = ended === undefined ? REASON : "anything";
      controller.abort(reason);
      expect(seen?.reason).to.equal(reason);
      expect(await ending).to.equal(REASON);
      expect(listeners(controller.signal)).to.equal(0);
    }
  });

  it("starts no work after its signal is aborted", async () => {
    let started = false;
    const signal = AbortSignal.abort(REASON);
    expect(
      await rejection(withTimeout(() => (started = true), { ms: LONG, late, signal })),
    ).to.equal(REASON);
    expect(started).to.equal(false);
  });
});
