import { expect } from "chai";
import type { InputGuardrail, OutputGuardrail } from "../../../src/contracts/guardrail.js";
import type {
  After,
  EnsembleHooks,
  Reject,
  TapOptions,
  TaskCall,
} from "../../../src/contracts/hooks.js";
import type { TaskOutput } from "../../../src/contracts/output.js";
import type { Awaitable } from "../../../src/contracts/types.js";
import type { GuardrailsOptions } from "../../../src/plugins/guardrails/index.js";
import {
  GuardrailViolationError,
  RunCancelledError,
  ValidationError,
} from "../../../src/contracts/errors.js";
import { GuardrailResult, namedGuardrail } from "../../../src/contracts/guardrail.js";
import { Task } from "../../../src/contracts/task.js";
import { guardrails } from "../../../src/plugins/guardrails/index.js";
import { fakeOutput, rejection, taskCall } from "../../support/fake-scope.js";

type AfterTask = After<TaskCall, "output", TaskOutput>;

interface Taps {
  readonly lanes: readonly (string | undefined)[];
  before(call: TaskCall): Awaitable<void | Reject>;
  after(call: AfterTask): Awaitable<void | Reject>;
}

/** The plugin's own taps, without a kernel. */
function tapsOf(options?: GuardrailsOptions): Taps {
  const lanes: (string | undefined)[] = [];
  const functions: ((call: never) => Awaitable<void | Reject>)[] = [];
  const tap = (
    o: TapOptions & { readonly lane?: string },
    fn: (call: never) => Awaitable<void | Reject>,
  ): void => {
    lanes.push(o.lane);
    functions.push(fn);
  };
  const hooks = { beforeTask: { tap }, afterTask: { tap } } as unknown as EnsembleHooks; // the two that the plugin taps
  guardrails(options).apply?.({ hooks, events: { on: () => () => undefined } });
  const [before, after] = functions as [Taps["before"], Taps["after"]]; // in the order in which it taps
  return { lanes, before, after };
}

function inputCall(...inputGuardrails: readonly InputGuardrail[]): TaskCall {
  return taskCall(new Task({ description: "Write", expectedOutput: "A page", inputGuardrails }));
}

function outputCall(
  outputGuardrails: readonly OutputGuardrail<string>[],
  outcome: "ok" | "answered" = "ok",
): AfterTask {
  const task = new Task({ description: "Write", outputGuardrails });
  return { ...taskCall(task), outcome, output: fakeOutput(task, "Tester", "text", { n: 1 }) };
}

async function violation(verdict: Awaitable<void | Reject>): Promise<GuardrailViolationError> {
  const reject = await verdict;
  if (reject?.verb !== "reject" || !(reject.reason instanceof GuardrailViolationError))
    throw new Error("no violation");
  return reject.reason;
}

/** Never decides; keeps its signal. */
function hanging(): {
  readonly guardrail: InputGuardrail;
  readonly signal: () => AbortSignal | undefined;
} {
  let signal: AbortSignal | undefined;
  const guardrail: InputGuardrail = (input) => {
    signal = input.signal;
    return new Promise(() => undefined);
  };
  return { guardrail, signal: () => signal };
}

describe("guardrails", () => {
  it("judges in the policy lanes", () => {
    expect(tapsOf().lanes).to.deep.equal(["policy", "policy"]);
  });

  it("does nothing for a task without guardrails, and does not wait", () => {
    expect(tapsOf().before(inputCall())).to.equal(undefined);
    expect(tapsOf().after(outputCall([]))).to.equal(undefined);
  });

  it("accepts true and a success", async () => {
    const passing: readonly InputGuardrail[] = [
      () => true,
      () => GuardrailResult.success(),
      async () => true as const,
      async () => ({ ok: true }),
    ];
    expect(await tapsOf().before(inputCall(...passing))).to.equal(undefined);
  });

  it("refuses with the guardrail's reason, as a violation of the input", async () => {
    const error = await violation(
      tapsOf().before(
        inputCall(namedGuardrail("no-secrets", () => GuardrailResult.failure("too secret"))),
      ),
    );
    expect(error.message).to.equal(
      "INPUT guardrail violation on agent 'Tester' task 'Write': too secret",
    );
    expect(error).to.include({
      type: "INPUT",
      violationMessage: "too secret",
      taskDescription: "Write",
      agentRole: "Tester",
      guardrailName: "no-secrets",
    });
  });

  it("calls guardrails in order and stops at the first refusal", async () => {
    const asked: number[] = [];
    const ask =
      (n: number, ok: boolean): InputGuardrail =>
      () => {
        asked.push(n);
        return { ok, reason: `no ${n}` };
      };
    expect(
      (await violation(tapsOf().before(inputCall(ask(1, true), ask(2, false), ask(3, false)))))
        .violationMessage,
    ).to.equal("no 2");
    expect(asked).to.deep.equal([1, 2]);
  });

  it("passes the task and its context to an input guardrail", async () => {
    const before = Task.of("Before");
    const output = fakeOutput(before, "R", "facts");
    let seen: Parameters<InputGuardrail>[0] | undefined;
    const guardrail: InputGuardrail = (input) => {
      seen = input;
      return true;
    };
    await tapsOf().before({ ...inputCall(guardrail), contextOutputs: [output], agent: undefined });
    expect(seen).to.include({
      taskDescription: "Write",
      expectedOutput: "A page",
      agentRole: "(deterministic)",
    });
    expect(seen?.contextOutputs).to.deep.equal([output]);
    expect(seen?.getOutput(before)).to.equal(output);
  });

  it("passes the text and the value to an output guardrail, and refuses as a violation of the output", async () => {
    let seen: unknown;
    const guardrail: OutputGuardrail<string> = ({ signal, getOutput, run, ...output }) => {
      seen = { ...output, runId: run.id, aborted: signal.aborted };
      expect(() => getOutput(new Task({ description: "Another" }))).to.throw("not in the context");
      return GuardrailResult.failure("too short");
    };
    for (const outcome of ["ok", "answered"] as const) {
      const error = await violation(tapsOf().after(outputCall([guardrail], outcome)));
      expect(error.message).to.equal(
        "OUTPUT guardrail violation on agent 'Tester' task 'Write': too short",
      );
      expect(seen).to.deep.equal({
        raw: "text",
        parsed: { n: 1 },
        taskDescription: "Write",
        agentRole: "Tester",
        contextOutputs: [],
        runId: "run-1",
        aborted: false,
      });
    }
  });

  it("do not judge a missing output", () => {
    const { task } = outputCall([() => expect.fail("asked")]);
    for (const outcome of ["failed", "rejected", "aborted"] as const) {
      expect(tapsOf().after({ ...taskCall(task), outcome, error: new Error("x") })).to.equal(
        undefined,
      );
    }
  });

  describe("fails closed", () => {
    const answers: readonly unknown[] = [
      undefined,
      null,
      false,
      1,
      "ok",
      {},
      { ok: "true" },
      { ok: 1 },
      [],
      { ok: false },
      { ok: false, reason: " " },
    ];
    for (const answer of answers) {
      it(`on ${JSON.stringify(answer) ?? "undefined"}`, async () => {
        const error = await violation(tapsOf().before(inputCall(() => answer as true)));
        expect(error.violationMessage).to.match(/^the guardrail returned/);
      });
    }

    it("on a predicate that returns false", async () => {
      const short: OutputGuardrail = ({ raw }) => raw.length < 3;
      const error = await violation(tapsOf().after(outputCall([short])));
      expect(error.violationMessage).to.equal("the guardrail returned no reason");
    });

    it("if one throws, with the error as the cause", async () => {
      const cause = new Error("boom");
      const throwing: readonly InputGuardrail[] = [
        () => {
          throw cause;
        },
        () => Promise.reject(cause),
      ];
      for (const guardrail of throwing) {
        const error = await violation(tapsOf().before(inputCall(guardrail)));
        expect(error.violationMessage).to.equal("the guardrail threw: boom");
        expect(error.cause).to.equal(cause);
      }
    });

    it("if one exceeds its time limit, and aborts its signal", async () => {
      const { guardrail, signal } = hanging();
      const error = await violation(tapsOf({ timeoutMs: 5 }).before(inputCall(guardrail)));
      expect(error.violationMessage).to.equal("the guardrail did not decide within 5 ms");
      expect(signal()?.aborted).to.equal(true);
    });

    it("even when a late decision would be yes, or an error", async () => {
      const late: readonly InputGuardrail[] = [
        ({ signal }) =>
          new Promise((resolve) => signal.addEventListener("abort", () => resolve(true))),
        ({ signal }) =>
          new Promise((_, reject) =>
            signal.addEventListener("abort", () => reject(new Error("late"))),
          ),
      ];
      for (const guardrail of late) {
        expect(
          (await violation(tapsOf({ timeoutMs: 5 }).before(inputCall(guardrail)))).violationMessage,
        ).to.match(/did not decide/);
      }
    });
  });

  it("does not wait for a guardrail when the run ends", async () => {
    const { guardrail, signal } = hanging();
    for (const reason of [new RunCancelledError("stop"), new Error("plain")]) {
      const controller = new AbortController();
      const verdict = Promise.resolve(
        tapsOf().before({ ...inputCall(guardrail), signal: controller.signal }),
      );
      controller.abort(reason);
      const error = await rejection(verdict);
      expect(error).to.be.instanceOf(RunCancelledError);
      expect(error === reason || (error as Error).cause === reason).to.equal(true);
      expect(signal()?.reason).to.equal(reason);
    }
  });

  it("are not called after the end of the run", async () => {
    const reason = new RunCancelledError("stop");
    const call = { ...inputCall(() => expect.fail("asked")), signal: AbortSignal.abort(reason) };
    expect(await rejection(Promise.resolve(tapsOf().before(call)))).to.equal(reason);
  });

  it("refuse unknown options and invalid time limits", () => {
    expect(() => guardrails({ timeout: 1 } as object)).to.throw(ValidationError, /timeoutMs/);
    expect(() => guardrails({ timeoutMs: 0 })).to.throw(ValidationError);
  });
});
