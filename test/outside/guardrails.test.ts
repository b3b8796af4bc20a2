// The built-in guardrails and those of another package, on the same tasks.
import type { AnyTask, OutputGuardrail } from "agentensemble";
import { guardrails as builtIn, GuardrailResult, namedGuardrail, Task } from "agentensemble";
import { expect } from "chai";
import { guardrails } from "./guardrails.js";
import { ended, expectSameEnd, type Case } from "./same-end.js";

const facts = new Task({ description: "Facts", handler: () => "three" });
const REFUSED = ["AE_TASK_EXECUTION", "AE_GUARDRAIL_VIOLATION"];

/** A task whose output is judged. */
function judged(guardrail: OutputGuardrail<unknown>): Case {
  const task = new Task({ description: "Say", handler: () => "x", outputGuardrails: [guardrail] });
  return { options: () => ({ tasks: [task] }), codes: REFUSED };
}

const tasks =
  (make: () => AnyTask): Case["options"] =>
  () => ({ tasks: [facts, make()] });

const CASES: Readonly<Record<string, Case>> = {
  "an input that is refused": {
    options: tasks(
      () =>
        new Task({
          description: "Card 4111",
          handler: () => "x",
          inputGuardrails: [
            namedGuardrail("no cards", ({ taskDescription }) =>
              taskDescription.includes("4111") ? GuardrailResult.failure("a card") : true,
            ),
          ],
        }),
    ),
    codes: REFUSED,
    outputs: ["three"],
  },
  "an output that is repeated": {
    options: tasks(() => {
      let tries = 0;
      return new Task({
        description: "Count",
        handler: () => ++tries,
        guardrailRetries: 2,
        outputGuardrails: [({ parsed }) => (parsed === 2 ? true : GuardrailResult.failure("no"))],
      });
    }),
    outputs: ["three", "2"],
  },
  "an output that its context refuses": {
    options: tasks(
      () =>
        new Task({
          description: "Compare",
          context: [facts],
          handler: () => "four",
          outputGuardrails: [({ raw, getOutput }) => ({ ok: raw === getOutput(facts).raw })],
        }),
    ),
    codes: REFUSED,
    outputs: ["three"],
  },
  "a guardrail that passes": {
    options: tasks(
      () => new Task({ description: "Say", handler: () => "x", outputGuardrails: [() => true] }),
    ),
    outputs: ["three", "x"],
  },
  "a guardrail that throws": judged(() => {
    throw new TypeError("no network");
  }),
  "a guardrail that returns no verdict": judged((() => 42) as never),
  "a guardrail that returns nothing": judged((() => null) as never),
  "a guardrail that decides too late": judged(
    ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(true))),
  ),
};

describe("guardrails of another package", () => {
  for (const [name, subject] of Object.entries(CASES))
    it(`end a run like the built-in guardrails: ${name}`, async () => {
      const plugins = [builtIn({ timeoutMs: 20 }), guardrails({ timeoutMs: 20 })] as const;
      const theirs = await expectSameEnd(subject, plugins, ["guardrail_refused"]);
      expect(theirs.message).to.equal((await ended(subject, plugins[0])).message);
    });

  it("stop waiting when the run is cancelled", async () => {
    for (const plugin of [builtIn(), guardrails()]) {
      const controller = new AbortController();
      const waiting = judged(() => {
        controller.abort();
        return new Promise<never>(() => undefined);
      });
      const { exitReason } = await ended(
        { ...waiting, runOptions: () => ({ signal: controller.signal }) },
        plugin,
      );
      expect(exitReason).to.equal("CANCELLED");
    }
  });
});
