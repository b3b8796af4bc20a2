import { expect } from "chai";
import { ValidationError } from "../../../src/contracts/errors.js";
import {
  allTurns,
  lastTurns,
  summarized,
  tokenBudget,
} from "../../../src/plugins/conversation/windows/window-policies.js";
import { rejectionOf } from "../../support/rejection.js";

/** A thread of `count` turns, each of one token; `given` are the readable turns. */
function threadOf(count: number, fields: object = {}, given = count): never {
  const turns = Array.from({ length: given }, (_, n) => ({ n, at: `at ${n}`, messages: [] }));
  return {
    head: { turns: count },
    read: async ({ limit, before = count }: { limit: number; before?: number }) =>
      turns.slice(Math.max(0, before - limit), before),
    countTokens: async () => 1,
    signal: new AbortController().signal,
    warn: () => undefined,
    summarize: async () => "so far",
    ...fields,
  } as never;
}

describe("the windows of a thread", () => {
  it("read nothing of an empty thread", async () => {
    const nothing = { read: () => Promise.reject(new Error("was read")) };
    for (const policy of [allTurns(), lastTurns(2), tokenBudget(5)])
      expect((await policy.select(threadOf(0, nothing))).turns).to.deep.equal([]);
    expect((await allTurns().select(threadOf(3))).turns).to.have.length(3);
  });

  it("are refused without a size", () => {
    for (const make of [lastTurns, tokenBudget])
      expect(() => make(undefined as never)).to.throw(ValidationError, "got: NaN");
    expect(() => summarized({})).to.throw("WindowPolicy.summary needs tokens or turns");
    expect(() => summarized({ turns: 2, keepTurns: 3 })).to.throw("at most turns (2), got: 3");
  });

  it("end if a store has fewer turns than its head states", async () => {
    expect((await tokenBudget(9).select(threadOf(4, {}, 0))).turns).to.deep.equal([]);
    const input = threadOf(4, {}, 0);
    expect(await summarized({ tokens: 1 }).select(input)).to.deep.equal({
      turns: [],
      summary: undefined,
    });
  });

  it("extend the summary by the turns that leave the window", async () => {
    const head = { turns: 5, summary: { upTo: 0, text: "first", at: "at 0" } };
    const { turns, summary } = await summarized({ turns: 2 }).select(threadOf(5, { head }));
    expect(turns.map(({ n }) => n)).to.deep.equal([4]);
    expect(summary).to.deep.equal({ upTo: 3, text: "so far", at: "at 3" });
    const fitting = await summarized({ turns: 4 }).select(threadOf(5, { head }));
    expect(fitting.summary).to.equal(head.summary);
    expect(fitting.turns).to.have.length(4);
  });

  it("show fewer turns if the summary fails, and fail if it is aborted", async () => {
    const warnings: string[] = [];
    const summarize = (): Promise<never> => Promise.reject(new Error("down"));
    const failing = { summarize, warn: (text: string) => void warnings.push(text) };
    const { turns } = await summarized({ turns: 2 }).select(threadOf(5, failing));
    expect(turns.map(({ n }) => n)).to.deep.equal([4]);
    expect(warnings).to.deep.equal([
      "The thread could not be summarized, so the model receives less of it: down",
    ]);
    const aborted = threadOf(5, { ...failing, signal: AbortSignal.abort() });
    const error = await rejectionOf(
      Error,
      summarized({ turns: 2 }).select(aborted) as Promise<unknown>,
    );
    expect(error.message).to.equal("down");
  });
});
