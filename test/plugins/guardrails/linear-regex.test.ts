import {
  Ensemble,
  GuardrailResult,
  GuardrailViolationError,
  linearRegex,
  Task,
  ValidationError,
  type InputGuardrail,
} from "agentensemble";
import { expect } from "chai";
import { rejectionOf } from "../../support/rejection.js";

describe("linearRegex()", () => {
  it("matches in linear time", async () => {
    const words = await linearRegex(/^(\w+\s?)*$/);
    expect(words.test(`${"a".repeat(10_000)}!`)).to.equal(false);
    expect(words.test("a b c")).to.equal(true);
  });

  it("keeps no state between texts", async () => {
    const letter = await linearRegex(/a/gi);
    expect([letter.test("A"), letter.test("A")]).to.deep.equal([true, true]);
  });

  it("works in a guardrail, and refuses a text that is too long", async () => {
    const digits = await linearRegex("[0-9]{900}$");
    const noNumber: InputGuardrail = ({ taskDescription }) =>
      digits.test(taskDescription) ? GuardrailResult.failure("a number") : true;
    const run = (description: string) =>
      new Ensemble({
        tasks: [new Task({ description, handler: () => "done", inputGuardrails: [noNumber] })],
      }).run();
    expect((await run("plain")).raw).to.equal("done");
    for (const [text, reason] of [
      ["1".repeat(900), "a number"],
      ["x".repeat(50_000), "is matched against at most"],
    ] as const) {
      const error = await rejectionOf(Error, run(text));
      expect(GuardrailViolationError.find(error)?.violationMessage).to.include(reason);
    }
  });

  for (const [what, pattern, problem] of [
    ["a look-ahead", /a(?=b)/, "looks ahead"],
    ["a back reference", "(a)\\1", "refers back"],
    ["an invalid regular expression", "(", "can't match (: Invalid regular expression"],
    ["syntax that the engine does not support", "a{1,5000}", "invalid repeat count"],
    ["a flag with state", /a/y, "'y'"],
    ["an empty pattern", "", "needs a regular expression"],
    ["another value", 1 as unknown as string, "needs a regular expression"],
  ] as const) {
    it(`refuses ${what}`, async () => {
      expect((await rejectionOf(ValidationError, linearRegex(pattern))).message).to.include(
        problem,
      );
    });
  }
});
