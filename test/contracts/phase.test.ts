import type { PhaseOptions } from "../../src/contracts/phase.js";
import { expect } from "chai";
import { ValidationError } from "../../src/contracts/errors.js";
import { Phase, PhaseReview } from "../../src/contracts/phase.js";
import { Task } from "../../src/contracts/task.js";

const task = Task.of("Work");
const from = (o: object): Phase => new Phase(o as PhaseOptions); // as JavaScript may call it

describe("Phase", () => {
  it("keeps its options, frozen", () => {
    const first = Phase.of("first", task);
    const tasks = [Task.of("A"), Task.of("B")];
    const review = new PhaseReview({ task: Task.of("Judge") });
    const phase = new Phase({
      name: "second",
      tasks,
      after: [first],
      workflow: "PARALLEL",
      review,
    });
    tasks.pop();
    expect(phase).to.include({ name: "second", workflow: "PARALLEL", review });
    expect(phase.tasks.map(({ description }) => description)).to.deep.equal(["A", "B"]);
    expect(phase.after).to.deep.equal([first]);
    expect([phase, phase.tasks, phase.after].every(Object.isFrozen)).to.equal(true);
  });

  it("has no dependencies and no own workflow by default", () => {
    const phase = Phase.of("first", task);
    expect(phase.after).to.deep.equal([]);
    expect([phase.workflow, phase.review]).to.deep.equal([undefined, undefined]);
  });

  const refused: readonly (readonly [string, object, string])[] = [
    ["a blank name", { name: " ", tasks: [task] }, "Phase name must not be null or blank"],
    ["no name", { tasks: [task] }, "Phase name must not be null or blank"],
    ["no tasks", { name: "p", tasks: [] }, "Phase 'p' must contain at least one task"],
    [
      "a value that is not a task",
      { name: "p", tasks: [1] },
      "Phase 'p' tasks[0] must be a Task, got: 1",
    ],
    [
      "a value that is not a phase before it",
      { name: "p", tasks: [task], after: ["q"] },
      "Phase 'p' after[0] must be a Phase, got: q",
    ],
    [
      "a value that is not a review",
      { name: "p", tasks: [task], review: {} },
      "Phase 'p' review must be a PhaseReview, got: {}",
    ],
    [
      "an unknown option",
      { name: "p", tasks: [task], afer: [] },
      "Unknown option 'afer' in Phase.",
    ],
    [
      "the workflow HIERARCHICAL",
      { name: "p", tasks: [task], workflow: "HIERARCHICAL" },
      "Phase 'p': Workflow.HIERARCHICAL is not supported at the phase level. Use HIERARCHICAL at the ensemble level (without phases) for hierarchical delegation.",
    ],
  ];
  for (const [what, options, message] of refused) {
    it(`refuses ${what}`, () => expect(() => from(options)).to.throw(ValidationError, message));
  }
});

describe("PhaseReview", () => {
  it("allows two retries of each kind by default", () => {
    expect(new PhaseReview({ task })).to.include({ task, maxRetries: 2, maxPredecessorRetries: 2 });
    expect(new PhaseReview({ task, maxRetries: 0, maxPredecessorRetries: 5 })).to.include({
      maxRetries: 0,
      maxPredecessorRetries: 5,
    });
  });

  const review = (o: object): PhaseReview => new PhaseReview(o as { readonly task: Task }); // as JavaScript may call it
  it("refuses invalid options", () => {
    expect(() => review({})).to.throw(ValidationError, "PhaseReview task must not be null");
    expect(() => review({ task, maxRetries: -1 })).to.throw(
      ValidationError,
      "PhaseReview maxRetries must be >= 0, got: -1",
    );
    expect(() => review({ task, maxPredecessorRetries: 1.5 })).to.throw(
      ValidationError,
      "PhaseReview maxPredecessorRetries must be >= 0, got: 1.5",
    );
    expect(() => review({ task, retries: 1 })).to.throw(
      ValidationError,
      "Unknown option 'retries'",
    );
  });
});
