import type { LoopOptions } from "../../src/contracts/loop.js";
import { expect } from "chai";
import { ValidationError } from "../../src/contracts/errors.js";
import { Loop } from "../../src/contracts/loop.js";
import { Task } from "../../src/contracts/task.js";

const task = Task.of("Work");
const outside = Task.of("Outside");
const from = (o: object): Loop => new Loop(o as LoopOptions); // as JavaScript may call it

describe("Loop", () => {
  it("has defaults for everything except its name and its tasks, and is frozen", () => {
    const loop = new Loop({ name: "polish", tasks: [task] });
    expect(loop).to.include({
      maxIterations: 5,
      onMaxIterations: "RETURN_LAST",
      outputMode: "LAST_ITERATION",
      injectFeedback: true,
      until: undefined,
    });
    expect(loop.context).to.deep.equal([]);
    expect([loop, loop.tasks, loop.context].every(Object.isFrozen)).to.equal(true);
  });

  it("keeps its options", () => {
    const until = (): boolean => true;
    const loop = new Loop({
      name: "polish",
      tasks: [task],
      until,
      maxIterations: 1,
      onMaxIterations: "THROW",
      outputMode: "FINAL_TASK_ONLY",
      injectFeedback: false,
      context: [outside],
    });
    expect(loop).to.include({
      until,
      maxIterations: 1,
      onMaxIterations: "THROW",
      outputMode: "FINAL_TASK_ONLY",
      injectFeedback: false,
    });
    expect(loop.context).to.deep.equal([outside]);
  });

  it("accepts tasks of the body that have each other in their context", () => {
    const second = new Task({ description: "Second", context: [task] });
    expect(new Loop({ name: "polish", tasks: [task, second] }).tasks).to.have.length(2);
  });

  const named = (name: string): Task => new Task({ name, description: "Anything" });
  const refused: readonly (readonly [string, object, string])[] = [
    ["a blank name", { name: "", tasks: [task] }, "Loop name must be non-blank"],
    ["an empty body", { name: "l", tasks: [] }, "Loop 'l' body must contain at least one task"],
    [
      "a value that is not a task",
      { name: "l", tasks: ["t"] },
      "Loop 'l' tasks[0] must be a Task, got: t",
    ],
    [
      "a predicate that is not a function",
      { name: "l", tasks: [task], until: true },
      "Loop 'l' until must be a function",
    ],
    [
      "no iterations",
      { name: "l", tasks: [task], maxIterations: 0 },
      "Loop 'l' maxIterations must be >= 1, got: 0",
    ],
    [
      "an unknown end",
      { name: "l", tasks: [task], onMaxIterations: "THROWS" },
      "Did you mean 'THROW'?",
    ],
    [
      "an unknown output mode",
      { name: "l", tasks: [task], outputMode: "ALL" },
      "Loop 'l' outputMode must be one of LAST_ITERATION, FINAL_TASK_ONLY, ALL_ITERATIONS, got: ALL",
    ],
    [
      "a value that is not a task in its context",
      { name: "l", tasks: [task], context: [{}] },
      "Loop 'l' context[0] must be a Task",
    ],
    [
      "two tasks with one name",
      { name: "l", tasks: [named("a"), named("a")] },
      "Loop 'l' body has duplicate task name/description: 'a'. Body tasks must be uniquely identifiable.",
    ],
    [
      "two tasks without a name with one description",
      { name: "l", tasks: [task, Task.of("Work")] },
      "duplicate task name/description: 'Work'",
    ],
    [
      "a body task with an outer task in its context",
      { name: "l", tasks: [new Task({ description: "B", context: [outside] })] },
      "Loop 'l' body task 'B' has a task outside the loop body in its `context`.",
    ],
    [
      "an unknown option",
      { name: "l", tasks: [task], maxIteration: 2 },
      "Did you mean 'maxIterations'?",
    ],
  ];
  for (const [what, options, message] of refused) {
    it(`refuses ${what}`, () => expect(() => from(options)).to.throw(ValidationError, message));
  }
});
