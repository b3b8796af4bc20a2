import { expect } from "chai";
import { Agent, Ensemble, Phase, Task, ValidationError } from "agentensemble";

/** Resembles the task of another copy of the package. */
const ofAnotherCopy = new (class Task {
  readonly description = "Answer";
})();

function refused(act: () => unknown): ValidationError {
  try {
    act();
  } catch (error) {
    if (error instanceof ValidationError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("options that require an instance of a class", () => {
  it("refuse a plain object, and name the constructor", () => {
    const { message, hint } = refused(
      () => new Ensemble({ tasks: [{ description: "Answer" } as never] }),
    );
    expect(message).to.equal('Ensemble tasks[0] must be a Task, got: {"description":"Answer"}');
    expect(hint).to.equal("Create it: new Task({ ... }).");
    expect(
      refused(() => new Task({ description: "Answer", agent: { role: "Writer" } as never })),
    ).to.include({
      message: 'Task agent must be an Agent, got: {"role":"Writer"}',
      hint: "Create it: new Agent({ ... }).",
    });
  });

  it("refuse an object of another copy of the package, and name the two copies as the cause", () => {
    for (const act of [
      () => new Ensemble({ tasks: [ofAnotherCopy as never] }),
      () => new Task({ description: "Sum up", context: [ofAnotherCopy as never] }),
      () => new Phase({ name: "p", tasks: [ofAnotherCopy as never] }),
    ])
      expect(refused(act).hint).to.match(/^It was created by another copy of agentensemble\./);
  });

  it("refuse any other value without a hint", () => {
    for (const value of ["Answer", 1, null, undefined, new Agent({ role: "r", goal: "g" }), []])
      expect(refused(() => new Ensemble({ tasks: [value as never] })).hint).to.equal(undefined);
  });
});
