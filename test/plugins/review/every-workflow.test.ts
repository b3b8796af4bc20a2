import type { ReviewOptions } from "agentensemble";
import {
  Agent,
  Review,
  ReviewDecision,
  ReviewError,
  ReviewTimeoutError,
  Task,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { untilAborted } from "../../support/kernel-fixtures.js";
import { person, ROWS, runRow, type Answer, type Row } from "./fixtures.js";

function counting(text: string, name: string, done: string[]): Agent {
  return new Agent({
    role: name,
    goal: "Do it",
    model: new ScriptedModel(() => `${text} ${done.push(name)}`),
  });
}

/** A subject that counts its executions, and a following task that records its input. */
function parts(review: { readonly after?: Review; readonly before?: Review }, row: Row) {
  const done: string[] = [];
  const subject = new Task({
    name: "subject",
    description: "Subject",
    agent: counting("draft", "subject", done),
    review: review.after,
    beforeReview: review.before,
  });
  const others = new Task({ description: "Others", agent: counting("others", "others", done) });
  return {
    done,
    run: (...answers: readonly Answer[]) => {
      const { handler, asked } = person(...answers);
      return runRow(row, subject, others, { reviewHandler: handler }).then((result) => ({
        ...result,
        asked,
        done,
      }));
    },
  };
}

const quick = (o: ReviewOptions): Review => Review.of({ timeoutMs: 20, ...o });
const silent: Answer = ({ signal }) => untilAborted(signal);
const deaf: Answer = () => new Promise(() => undefined);

for (const row of ROWS) {
  describe(`a review in ${row.name}`, () => {
    const required = { after: Review.required("Good?") };

    it("accepts an output with CONTINUE, once for each execution of the task", async () => {
      const { output, asked, done, events } = await parts(required, row).run(
        ReviewDecision.continue(),
      );
      expect(output.exitReason).to.equal("COMPLETED");
      expect(asked).to.have.length(row.visits ?? 1);
      expect(asked[0]).to.include({
        timing: "AFTER_EXECUTION",
        taskDescription: "Subject",
        taskOutput: "draft 1",
        prompt: "Good?",
        timeoutMs: 300_000,
        onTimeout: "EXIT_EARLY",
      });
      expect(done.at(-1)).to.equal("others");
      expect(events.filter(({ type }) => type === "review_resolved")).to.have.length(
        row.visits ?? 1,
      );
    });

    it("uses an edit instead of the output, for everything after it and for the events", async () => {
      const { output, events } = await parts(required, row).run(ReviewDecision.edit("better"));
      expect(output.exitReason).to.equal("COMPLETED");
      const completed = events.filter(
        (event) => event.type === "task_completed" && event.taskDescription === "Subject",
      );
      expect(
        completed.map(
          (event) =>
            event.type === "task_completed" && [event.taskOutput.raw, event.taskOutput.parsed],
        ),
      ).to.deep.equal(Array.from({ length: row.visits ?? 1 }, () => ["better", "better"]));
    });

    it("ends the run early after the task, whose output is kept, and starts nothing more", async () => {
      const { output, done, error } = await parts(required, row).run(ReviewDecision.exitEarly());
      expect(error).to.equal(undefined);
      expect(output).to.include({ exitReason: "USER_EXIT_EARLY", isComplete: false });
      expect(output.taskOutputs.some(({ raw }) => raw === "draft 1")).to.equal(true);
      expect(done).to.deep.equal(["subject"]);
      expect(output.metrics.llmCallCount).to.equal(row.name === "HIERARCHICAL" ? 2 : 1);
    });

    it("ends the run early before the task, without executing the task", async () => {
      const { output, done, asked } = await parts({ before: Review.required() }, row).run(
        ReviewDecision.exitEarly(),
      );
      expect(output.exitReason).to.equal("USER_EXIT_EARLY");
      expect(asked.map(({ timing, taskOutput }) => [timing, taskOutput])).to.deep.equal([
        ["BEFORE_EXECUTION", ""],
      ]);
      expect(done).to.deep.equal([]);
    });

    it("executes the task after approval before it, including an edit", async () => {
      const { output, done } = await parts({ before: Review.required() }, row).run(
        ReviewDecision.edit("whatever"),
      );
      expect(output.exitReason).to.equal("COMPLETED");
      expect(done[0]).to.equal("subject");
    });

    for (const [what, answer] of [
      ["that hangs until its signal aborts", silent],
      ["that hangs forever", deaf],
    ] as const) {
      it(`applies onTimeout CONTINUE with a handler ${what}`, async () => {
        const { output, done } = await parts({ after: quick({ onTimeout: "CONTINUE" }) }, row).run(
          answer,
        );
        expect(output.exitReason).to.equal("COMPLETED");
        expect(done).to.include("others");
      });

      it(`applies onTimeout EXIT_EARLY with a handler ${what}`, async () => {
        const { output, done, error } = await parts({ after: quick({}) }, row).run(answer);
        expect(error).to.equal(undefined);
        expect(output.exitReason).to.equal("TIMEOUT");
        expect(done).to.deep.equal(["subject"]);
      });

      it(`applies onTimeout FAIL with a handler ${what}`, async () => {
        const { output, done, error } = await parts(
          { after: quick({ onTimeout: "FAIL" }) },
          row,
        ).run(answer);
        expect(output.exitReason).to.equal(row.name === "HIERARCHICAL" ? "COMPLETED" : "ERROR");
        if (row.name === "HIERARCHICAL") return; // the manager receives the error, and continues
        expect(ReviewTimeoutError.find(error)?.message).to.equal(
          "Review gate timed out after 0.02s (onTimeout: FAIL)",
        );
        expect(done).to.deep.equal(["subject"]);
      });
    }

    const broken: readonly (readonly [string, Answer])[] = [
      [
        "throws",
        () => {
          throw new Error("no such person");
        },
      ],
      ["rejects", () => Promise.reject(new Error("no such person"))],
      ["returns nothing", () => undefined],
      ["returns a text", () => "CONTINUE"],
      ["edits without a text", () => ({ type: "EDIT" })],
      ["decides something unknown", () => ({ type: "APPROVE" })],
    ];
    for (const [what, answer] of broken) {
      it(`fails the task, before and after it, with a handler that ${what}`, async () => {
        for (const review of [required, { before: Review.required() }]) {
          const { output, error, events, done } = await parts(review, row).run(answer);
          const failures = events.filter(
            (event) => event.type === "task_failed" && event.taskDescription === "Subject",
          );
          expect(failures).to.have.length(1);
          expect(
            failures.every(
              (event) =>
                event.type === "task_failed" && ReviewError.find(event.cause) !== undefined,
            ),
          ).to.equal(true);
          expect(done.filter((name) => name === "subject")).to.have.length(
            review === required ? 1 : 0,
          );
          if (row.name !== "HIERARCHICAL")
            expect([output.exitReason, ReviewError.find(error)?.code]).to.deep.equal([
              "ERROR",
              "AE_REVIEW",
            ]);
        }
      });
    }
  });
}
