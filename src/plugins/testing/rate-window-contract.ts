import assert from "node:assert/strict";
import type { RateTurn, RateWait, RateWindow } from "../../contracts/rate-window.js";
import type { Awaitable } from "../../contracts/types.js";
import { RateLimit } from "../../contracts/rate-limit.js";
import { checkOptions } from "../../contracts/validation.js";

/** A window for a test of `rateWindowContract`. */
export interface RateWindowUnderTest {
  /** Empty. */
  readonly window: RateWindow;
  /** With `shares`: the same windows in another process. */
  readonly other?: RateWindow | undefined;
  /** Closes everything, and removes data on servers. */
  readonly dispose?: (() => Awaitable<void>) | undefined;
}

/** Options of `rateWindowContract`. */
export interface RateWindowContractOptions {
  /** Called once per test. */
  create(): Awaitable<RateWindowUnderTest>;
  /** Whether several processes count together. Requires `other`. Default false. */
  readonly shares?: boolean | undefined;
}

type Use = (body: (subject: RateWindowUnderTest) => Promise<void>) => Promise<void>;
/** Requests the turn of a call. */
type Ask = (
  limits: readonly (readonly [string, RateLimit])[],
  tokens?: number,
) => Promise<TurnAnswer>;
type TurnAnswer = RateTurn | RateWait;

/** Milliseconds. Longer than any test, so no window opens during a test. */
const LONG = 3_600_000;
const TWO = RateLimit.of(2, LONG);

function asking(window: RateWindow, owners = new Map<string, object>()): Ask {
  return async (limits, tokens = 0) => {
    const named = limits.map(([key, limit]) => {
      const owner = owners.get(key) ?? {};
      owners.set(key, owner);
      return { key, owner, limit };
    });
    return window.take({ limits: named, tokens, signal: new AbortController().signal });
  };
}

function turnOf(answer: TurnAnswer): RateTurn {
  if ("waits" in answer) return assert.fail("the call should have had its turn");
  return answer;
}

function waitsOf(answer: TurnAnswer): RateWait["waits"] {
  return "waits" in answer ? answer.waits : assert.fail("the call should have had to wait");
}

function countingSuite(use: Use): void {
  it("starts no more calls than the limit allows, and returns the wait of the next call", () =>
    use(async ({ window }) => {
      const ask = asking(window);
      for (let n = 0; n < 2; n++) turnOf(await ask([["agent:a", TWO]])).begin();
      const [wait] = waitsOf(await ask([["agent:a", TWO]]));
      assert.ok(
        wait !== undefined && wait.openMs > 0 && wait.atLeastMs > 0,
        "no wait was returned",
      );
      assert.ok(wait.atLeastMs <= wait.openMs, "atLeastMs is above openMs");
    }));
  it("counts a granted place before its call begins", () =>
    use(async ({ window }) => {
      const ask = asking(window);
      for (let n = 0; n < 2; n++) turnOf(await ask([["agent:a", TWO]]));
      assert.ok((waitsOf(await ask([["agent:a", TWO]]))[0]?.openMs ?? 0) > 0);
    }));
  it("frees a granted place whose call never begins", () =>
    use(async ({ window }) => {
      const ask = asking(window);
      const turns = [turnOf(await ask([["agent:a", TWO]])), turnOf(await ask([["agent:a", TWO]]))];
      turns[0]?.end(0);
      turnOf(await ask([["agent:a", TWO]]));
    }));
}

function periodSuite(use: Use): void {
  it("grants a place in all windows or in none, and keeps windows separate", () =>
    use(async ({ window }) => {
      const ask = asking(window);
      const one = RateLimit.of(1, LONG);
      turnOf(await ask([["agent:a", one]])).begin();
      const both = waitsOf(
        await ask([
          ["agent:a", one],
          ["model:p:m", one],
        ]),
      );
      assert.equal(both.length, 2);
      turnOf(await ask([["model:p:m", one]]));
    }));
  it("grants a place again after the period", () =>
    use(async ({ window }) => {
      const ask = asking(window);
      const short = RateLimit.of(1, 20);
      turnOf(await ask([["agent:a", short]])).begin();
      for (let n = 0; "waits" in (await ask([["agent:a", short]])); n++) {
        assert.ok(n < 200, "the window stays closed");
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }));
  it("reserves the tokens of calls in flight, and counts the tokens that they used", () =>
    use(async ({ window }) => {
      const ask = asking(window);
      const limit = RateLimit.of(100, LONG).with({ tokens: 50 });
      const first = turnOf(await ask([["agent:a", limit]], 50));
      first.begin();
      waitsOf(await ask([["agent:a", limit]], 1));
      first.end(10);
      const second = turnOf(await ask([["agent:a", limit]], 1));
      second.begin();
      second.end(40);
      waitsOf(await ask([["agent:a", limit]], 1));
    }));
}

function sharingSuite(use: Use): void {
  it("counts the calls of other processes under the same key", () =>
    use(async ({ window, other }) => {
      if (other === undefined) return assert.fail("a window that is shared needs `other`");
      turnOf(await asking(window)([["agent:a", TWO]])).begin();
      turnOf(await asking(other)([["agent:a", TWO]])).begin();
      waitsOf(await asking(window)([["agent:a", TWO]]));
      waitsOf(await asking(other)([["agent:a", TWO]]));
    }));
  it("grants the last place to only one of two processes that request it at once", () =>
    use(async ({ window, other }) => {
      if (other === undefined) return assert.fail("a window that is shared needs `other`");
      const one = RateLimit.of(1, LONG);
      const asks = [window, other].map((each) => asking(each)([["agent:a", one]]));
      const answers = await Promise.all(asks);
      assert.equal(answers.filter((answer) => !("waits" in answer)).length, 1);
    }));
}

/**
 * Registers tests with the global `describe` and `it` of any runner that every `RateWindow` should
 * pass.
 *
 * @example
 * rateWindowContract("mine", { create: async () => ({ window: await openMine() }) });
 * @throws ValidationError for an unknown option.
 */
export function rateWindowContract(name: string, options: RateWindowContractOptions): void {
  checkOptions("rateWindowContract()", options, ["create", "shares"]);
  const use: Use = async (body) => {
    const subject = await options.create();
    try {
      await body(subject);
    } finally {
      await subject.dispose?.();
    }
  };
  describe(`rate window contract: ${name}`, () => {
    countingSuite(use);
    periodSuite(use);
    if (options.shares === true) sharingSuite(use);
  });
}
