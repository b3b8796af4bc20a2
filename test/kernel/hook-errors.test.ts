import type { EnsembleHooks, PluginError } from "agentensemble";
import {
  Kernel,
  ToolConfigurationError,
  ValidationError,
  answer,
  reject,
  replace,
} from "agentensemble";
import { expect } from "chai";
import { echo, runToEnd, tapping } from "../support/kernel-fixtures.js";
import { pause } from "../support/time.js";

const withTaps = (apply: (hooks: EnsembleHooks) => void): ReturnType<typeof runToEnd> =>
  runToEnd({ tasks: [echo("work")], plugins: [tapping("taps", ({ hooks }) => apply(hooks))] });

/** Calls of `tap` that the types refuse, as JavaScript users may write them. */
type Untyped = Readonly<Record<keyof EnsembleHooks, { tap(...args: readonly unknown[]): void }>>;

describe("a rejection", () => {
  it("with a text becomes a HookRejectedError that names tap and hook", async () => {
    const { error } = await withTaps(({ beforeTask }) =>
      beforeTask.tap({ name: "budget" }, () => reject("too expensive")),
    );
    expect(error).to.have.property("code", "AE_TASK_EXECUTION");
    expect(error?.cause).to.include({ code: "AE_HOOK_REJECTED", reason: "too expensive" });
    expect((error?.cause as Error).message)
      .to.include("'budget'")
      .and.include("beforeTask");
  });

  it("with an error of the framework reaches the caller unchanged", async () => {
    const own = new ToolConfigurationError("not configured");
    const task = await withTaps(({ beforeTask }) => beforeTask.tap(() => reject(own)));
    expect(task.error?.cause).to.equal(own);
    const run = await withTaps(({ beforeRun }) => beforeRun.tap(() => reject(own)));
    expect(run.error).to.equal(own);
    expect(run.output.exitReason).to.equal("ERROR");
  });

  it("after a task discards its output", async () => {
    const { error, output } = await withTaps(({ afterTask }) =>
      afterTask.tap({ name: "judge", lane: "policy" }, () => reject("bad")),
    );
    expect(error?.cause).to.have.property("reason", "bad");
    expect(output.taskOutputs).to.deep.equal([]);
  });
});

describe("a tap that throws", () => {
  it("closes the gate with a PluginError that names plugin and hook and keeps the cause", async () => {
    const cause = new TypeError("undefined is not a function");
    const { error } = await withTaps(({ beforeTask }) =>
      beforeTask.tap({ name: "guard" }, () => {
        throw cause;
      }),
    );
    const failure = error?.cause as PluginError;
    expect(failure).to.include({ code: "AE_PLUGIN", plugin: "taps", hook: "beforeTask", cause });
    expect(failure.message).to.include("'guard'");
  });

  it("closes the gate also if it rejects, or throws a value that is not an error", async () => {
    const rejected = await withTaps(({ beforeTask }) =>
      beforeTask.tap(async () => {
        throw new Error("later");
      }),
    );
    expect(rejected.error?.cause).to.include({ code: "AE_PLUGIN", hook: "beforeTask" });
    const text = await withTaps(({ beforeTask }) =>
      beforeTask.tap(() => {
        // eslint-disable-next-line @typescript-eslint/only-throw-error
        throw "a text";
      }),
    );
    expect((text.error?.cause as PluginError).message).to.include("a text");
  });

  it("passes its framework error on unchanged", async () => {
    const own = new ValidationError("mine");
    const { error } = await withTaps(({ beforeTask }) =>
      beforeTask.tap(() => {
        throw own;
      }),
    );
    expect(error?.cause).to.equal(own);
  });

  it("is skipped with a warning if it is optional", async () => {
    const { error, output, events } = await withTaps(({ beforeTask }) =>
      beforeTask.tap({ name: "optional", onError: "skip" }, () => {
        throw new Error("never mind");
      }),
    );
    expect(error).to.equal(undefined);
    expect(output.raw).to.equal("work");
    const warnings = events.filter((event) => event.type === "run_warning");
    expect(warnings).to.have.length(1);
    expect(warnings[0]?.message).to.include("never mind").and.include("optional");
  });

  it("fails the run from beforeRun and from afterRun", async () => {
    for (const hook of ["beforeRun", "afterRun"] as const) {
      const { error, output } = await withTaps((hooks) =>
        (hooks as unknown as Untyped)[hook].tap((): never => {
          throw new Error("broken");
        }),
      );
      expect(error).to.include({ code: "AE_PLUGIN", hook });
      expect(output.exitReason).to.equal("ERROR");
    }
  });
});

describe("a tap with a time limit", () => {
  it("fails if it takes longer", async () => {
    const { error } = await withTaps(({ beforeTask }) =>
      beforeTask.tap({ name: "slow", timeoutMs: 5 }, () => new Promise(() => undefined)),
    );
    expect(error?.cause).to.include({ code: "AE_PLUGIN", hook: "beforeTask" });
    expect((error?.cause as Error).message).to.include("5 ms");
  });

  it("has an effect if it returns in time", async () => {
    const { error } = await withTaps(({ beforeTask }) =>
      beforeTask.tap(
        { name: "quick", timeoutMs: 5_000 },
        async () => (await pause(), reject("no")),
      ),
    );
    expect(error?.cause).to.have.property("code", "AE_HOOK_REJECTED");
  });

  for (const hook of ["beforeTask", "afterTask"] as const) {
    it(`leaves no timer when the run is cancelled: ${hook}`, async () => {
      const timers = (): number =>
        process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
      await pause(); // mocha sets its own timer when the test first waits
      const before = timers();
      const options = { name: "slow", timeoutMs: 60_000 };
      const never = (): Promise<void> => new Promise(() => undefined);
      const hang = tapping("taps", ({ hooks }) =>
        hook === "beforeTask"
          ? hooks.beforeTask.tap(options, never)
          : hooks.afterTask.tap(options, never),
      );
      const { error } = await runToEnd(
        { tasks: [echo("work")], plugins: [hang] },
        { timeoutMs: 10, cancelGraceMs: 5 },
      );
      expect(error).to.have.property("code", "AE_RUN_TIMEOUT");
      expect(timers()).to.equal(before);
    });
  }
});

describe("a verdict that its lane does not allow", () => {
  const cases: readonly (readonly [string, (hooks: Untyped) => void, RegExp])[] = [
    [
      "an answer of a policy",
      (h) => h.beforeTask.tap({ name: "x" }, () => answer({ raw: "" })),
      /'x'.*beforeTask.*lane 'policy'.*nothing or reject/,
    ],
    [
      "a change by a policy",
      (h) => h.beforeTask.tap({ name: "x" }, () => replace({ promptSections: [] })),
      /lane 'policy'.*nothing or reject/,
    ],
    [
      "a rejection by a transform",
      (h) => h.beforeTask.tap({ name: "x", lane: "transform" }, () => reject("no")),
      /lane 'transform'.*nothing or replace/,
    ],
    [
      "a change by an answering tap",
      (h) => h.beforeTask.tap({ name: "x", lane: "answer" }, () => replace({ promptSections: [] })),
      /lane 'answer'.*nothing or answer/,
    ],
    [
      "anything from a commit",
      (h) => h.afterTask.tap({ name: "x", lane: "commit" }, () => replace({ raw: "" })),
      /lane 'commit'.*nothing/,
    ],
    [
      "a rejection by a review",
      (h) => h.afterTask.tap({ name: "x", lane: "review" }, () => reject("no")),
      /lane 'review'.*nothing or replace/,
    ],
    ["a plain value", (h) => h.beforeTask.tap({ name: "x" }, () => true), /returned true/],
    [
      "a value of an unknown form",
      (h) => h.beforeTask.tap({ name: "x", lane: "transform" }, () => ({ promptSections: [] })),
      /returned \{"promptSections":\[\]\}/,
    ],
  ];
  for (const [what, tap, message] of cases) {
    it(`is an error that lists the allowed verdicts: ${what}`, async () => {
      const { error } = await withTaps((hooks) => tap(hooks));
      expect(error?.cause).to.have.property("code", "AE_VALIDATION");
      expect((error?.cause as Error).message).to.match(message);
    });
  }
});

describe("a patch", () => {
  const patched = (patch: unknown): ReturnType<typeof runToEnd> =>
    withTaps((hooks) =>
      (hooks as unknown as Untyped).beforeTask.tap({ name: "x", lane: "transform" }, () => ({
        verb: "replace",
        value: patch,
      })),
    );

  it("of fields that may not change causes an error that lists the changeable fields", async () => {
    const { error } = await patched({ taskId: "other" });
    expect(error?.cause).to.have.property("code", "AE_VALIDATION");
    expect((error?.cause as Error).message)
      .to.include("promptSections")
      .and.include("contextOutputs");
  });

  it("must be an object with at least one field", async () => {
    for (const patch of [undefined, null, "text", {}])
      expect((await patched(patch)).error?.cause).to.have.property("code", "AE_VALIDATION");
  });

  it("applies only the fields that may change", async () => {
    const seen: string[] = [];
    await withTaps((hooks) => {
      (hooks as unknown as Untyped).beforeTask.tap({ name: "x", lane: "transform" }, () =>
        replace({ taskId: "other", promptSections: [] }),
      );
      hooks.beforeTask.tap((call) => void seen.push(call.taskId));
    });
    expect(seen).to.deep.equal(["task-1"]);
  });
});

describe("registering a tap", () => {
  const refusal = (...args: readonly unknown[]): string => {
    try {
      (new Kernel().hooks as unknown as Untyped).beforeTask.tap(...args);
    } catch (error) {
      if (ValidationError.isInstance(error)) return error.message;
      throw error;
    }
    throw new Error("accepted");
  };
  const nothing = (): void => undefined;

  it("refuses an unknown lane, lists the known lanes and suggests one", () => {
    expect(refusal({ name: "x", lane: "transfrom" }, nothing)).to.match(
      /'transfrom'.*Did you mean 'transform'.*transform, policy, answer/,
    );
  });

  it("refuses a lane that this hook does not have", () => {
    const { beforeRun, afterRun, afterMemoryWrite } = new Kernel().hooks as unknown as Untyped;
    expect(() => beforeRun.tap({ name: "x", lane: "answer" }, nothing)).to.throw(
      ValidationError,
      "Known: policy",
    );
    expect(() => afterRun.tap({ name: "x", lane: "policy" }, nothing)).to.throw(
      ValidationError,
      "transform, commit",
    );
    expect(() => afterMemoryWrite.tap({ name: "x", lane: "policy" }, nothing)).to.throw(
      ValidationError,
      "transform, commit",
    );
  });

  it("refuses an unknown order, an unknown option and an invalid onError or time limit", () => {
    expect(refusal({ name: "x", order: "first" }, nothing)).to.match(/'first'.*pre, normal, post/);
    expect(refusal({ name: "x", stage: 1 }, nothing)).to.include("'stage'");
    expect(refusal({ name: "x", timeout: 1 }, nothing)).to.include("Did you mean 'timeoutMs'");
    expect(refusal({ name: "x", onError: "ignore" }, nothing)).to.include("onError");
    expect(refusal({ name: "x", timeoutMs: 0 }, nothing)).to.include("timeoutMs");
  });

  it("refuses a tap without a name, and a value that is not a function", () => {
    expect(refusal({}, nothing)).to.include("name");
    expect(refusal({ name: " " }, nothing)).to.include("name");
    expect(refusal({ name: "x" }, "not a function")).to.include("function");
    expect(refusal(undefined)).to.include("function");
  });

  it("is refused after the kernel has booted", async () => {
    const kernel = new Kernel();
    await kernel.boot();
    expect(() => kernel.hooks.beforeTask.tap(nothing)).to.throw(ValidationError, "frozen");
    await kernel.dispose();
  });

  it("can't add a hook: the hooks are frozen from the start", () => {
    const { hooks } = new Kernel();
    expect(hooks).to.be.frozen;
    expect(Object.keys(hooks)).to.have.length(12);
    for (const hook of Object.values(hooks)) {
      expect(hook).to.be.frozen;
      expect(Object.keys(hook as object)).to.deep.equal(["tap"]);
    }
  });
});
