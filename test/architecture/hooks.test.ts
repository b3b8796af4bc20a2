import { expect } from "chai";
import type { AfterHook, BeforeHook, EnsembleHooks } from "../../src/contracts/hooks.js";
import type { Outcome } from "../../src/contracts/types.js";
import { allPoints, createHookPoints } from "../../src/kernel/hooks/points.js";
import { tableOf } from "../support/project.js";

/** The lanes of a hook's type. */
type LanesOf<H> =
  H extends BeforeHook<infer _P, infer _C, infer _R, infer L>
    ? L
    : H extends AfterHook<infer _P, infer _K, infer _R, infer _C, infer L>
      ? L
      : never;

// An extra or missing lane in one of these records is a compile error. This keeps the types and the
// page equal.
const declared: {
  readonly [K in keyof EnsembleHooks]: Readonly<Record<LanesOf<EnsembleHooks[K]>, true>>;
} = {
  beforeRun: { policy: true },
  afterRun: { transform: true, commit: true },
  beforeTask: { transform: true, policy: true, answer: true },
  afterTask: { transform: true, policy: true, review: true, commit: true },
  beforeLlmCall: { transform: true, policy: true, answer: true },
  afterLlmCall: { transform: true, policy: true, review: true, commit: true },
  beforeToolCall: { transform: true, policy: true, answer: true },
  afterToolCall: { transform: true, policy: true, review: true, commit: true },
  beforeDelegation: { transform: true, policy: true, answer: true },
  afterDelegation: { transform: true, policy: true, review: true, commit: true },
  beforeMemoryWrite: { transform: true, policy: true, answer: true },
  afterMemoryWrite: { transform: true, commit: true },
};
const outcomes: Readonly<Record<Outcome, true>> = {
  ok: true,
  answered: true,
  rejected: true,
  failed: true,
  aborted: true,
};

const words = (cell: string | undefined): readonly string[] =>
  [...(cell ?? "").matchAll(/`([^`]+)`|^([a-z]+)$/gi)].map((match) => match[1] ?? match[2] ?? "");
const points = allPoints(createHookPoints());
const rows = tableOf("docs/hooks.md", "hook");
const documented = Object.fromEntries(rows.map(([hook = "", lanes]) => [hook, words(lanes)]));

describe("docs/hooks.md", () => {
  it("lists exactly the hooks and lanes of the types, lanes in their order", () => {
    expect(documented).to.deep.equal(
      Object.fromEntries(
        Object.entries(declared).map(([hook, lanes]) => [hook, Object.keys(lanes)]),
      ),
    );
  });

  it("lists exactly the hooks and lanes of the kernel", () => {
    expect(documented).to.deep.equal(
      Object.fromEntries(points.map(({ name, lanes }) => [name, lanes])),
    );
  });

  it("names the fields that a patch may change", () => {
    for (const { name, fields } of points) {
      const cell = rows.find(([hook]) => hook === name)?.[2] ?? "";
      expect(cell === "nothing" ? [] : words(cell), name).to.deep.equal(fields);
    }
  });

  it("lists every outcome", () => {
    expect(tableOf("docs/hooks.md", "outcome").map(([outcome]) => outcome)).to.have.members(
      Object.keys(outcomes),
    );
  });
});
