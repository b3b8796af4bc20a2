import type { EnsembleHooks, TaskScope } from "agentensemble";
import {
  Agent,
  GuardrailResult,
  Task,
  ToolResult,
  answer,
  reject,
  replace,
  tool,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { echo, runToEnd, scoped, tapping } from "../support/kernel-fixtures.js";
import { pause } from "../support/time.js";

/** Runs one task with taps; returns the run. */
const withTaps = (
  apply: (hooks: EnsembleHooks) => void,
  task = echo("work"),
): ReturnType<typeof runToEnd> =>
  runToEnd({ tasks: [task], plugins: [tapping("taps", ({ hooks }) => apply(hooks))] });

describe("the lanes of a before hook", () => {
  it("run in the order transform, policy, answer, in any order of registration", async () => {
    const seen: string[] = [];
    await withTaps(({ beforeTask }) => {
      beforeTask.tap({ name: "a", lane: "answer" }, () => void seen.push("answer"));
      beforeTask.tap({ name: "p", lane: "policy" }, () => void seen.push("policy"));
      beforeTask.tap({ name: "t", lane: "transform" }, () => void seen.push("transform"));
      beforeTask.tap(() => void seen.push("default"));
    });
    expect(seen).to.deep.equal(["transform", "policy", "default", "answer"]);
  });

  it("keep pre, normal and post taps in this order, and equal taps in the order of registration", async () => {
    const seen: string[] = [];
    await withTaps(({ beforeTask }) => {
      for (const order of ["post", "normal", "pre"] as const) {
        for (const n of [1, 2])
          beforeTask.tap({ name: `${order}${n}`, order }, () => void seen.push(`${order}${n}`));
      }
      beforeTask.tap({ name: "none" }, () => void seen.push("none"));
    });
    expect(seen).to.deep.equal(["pre1", "pre2", "normal1", "normal2", "none", "post1", "post2"]);
  });

  it("await sync and async taps; the promise of an async tap is not a verdict", async () => {
    const seen: string[] = [];
    const { output } = await withTaps(({ beforeTask }) => {
      beforeTask.tap({ name: "slow", lane: "answer" }, async () => {
        await pause(5);
        seen.push("slow");
      });
      beforeTask.tap({ name: "quick", lane: "answer" }, () => {
        seen.push("quick");
        return answer({ raw: "answered" });
      });
    });
    expect(seen).to.deep.equal(["slow", "quick"]);
    expect(output.raw).to.equal("answered");
  });

  it("treat a thenable that is not a Promise like a Promise", async () => {
    const { error } = await withTaps(({ beforeTask }) => {
      beforeTask.tap(
        () =>
          ({ then: (resolve) => Promise.resolve(reject("later")).then(resolve) }) as PromiseLike<
            ReturnType<typeof reject>
          >,
      );
    });
    expect(error?.cause).to.have.property("code", "AE_HOOK_REJECTED");
  });

  it("run policies also after an answer", async () => {
    const { error, output } = await withTaps(({ beforeTask }) => {
      beforeTask.tap({ name: "cache", lane: "answer", order: "pre" }, () =>
        answer({ raw: "cached" }),
      );
      beforeTask.tap({ name: "guard", order: "post" }, () => reject("no"));
    });
    expect(error?.cause).to.have.property("code", "AE_HOOK_REJECTED");
    expect(output.taskOutputs).to.deep.equal([]);
  });

  it("show a policy the call as changed by a transform registered after it", async () => {
    const judged: unknown[] = [];
    const executed: unknown[] = [];
    const upper = tool({
      name: "upper",
      description: "Upper-cases",
      execute: (input) => (executed.push(input), input.toUpperCase()),
    });
    await withTaps(
      ({ beforeToolCall }) => {
        beforeToolCall.tap({ name: "guard" }, (call) => void judged.push(call.input));
        beforeToolCall.tap({ name: "late", lane: "transform" }, () =>
          replace({ input: "changed" }),
        );
      },
      new Task({ description: "work", handler: upper }),
    );
    expect(judged).to.deep.equal(["changed"]);
    expect(executed).to.deep.equal(judged);
  });

  it("use the first answer and stop", async () => {
    let asked = 0;
    const { output } = await withTaps(({ beforeTask }) => {
      beforeTask.tap({ name: "first", lane: "answer" }, () => answer({ raw: "first" }));
      beforeTask.tap(
        { name: "second", lane: "answer" },
        () => (asked++, answer({ raw: "second" })),
      );
    });
    expect(output.raw).to.equal("first");
    expect(asked).to.equal(0);
  });

  it("stop at the first rejection", async () => {
    let asked = 0;
    const { error } = await withTaps(({ beforeTask }) => {
      beforeTask.tap({ name: "first" }, () => reject("first"));
      beforeTask.tap({ name: "second" }, () => (asked++, reject("second")));
      beforeTask.tap({ name: "third", lane: "answer" }, () => (asked++, answer({ raw: "third" })));
    });
    expect(error?.cause).to.have.property("reason", "first");
    expect(asked).to.equal(0);
  });

  it("pass the result of each transform to the next one", async () => {
    const { output } = await withTaps(
      ({ beforeToolCall }) => {
        for (const letter of ["a", "b", "c"]) {
          beforeToolCall.tap({ name: letter, lane: "transform" }, (call) =>
            replace({ input: `${String(call.input)}${letter}` }),
          );
        }
      },
      new Task({
        description: "x",
        handler: tool({ name: "id", description: "Gives back", execute: (input) => input }),
      }),
    );
    expect(output.raw).to.equal("xabc");
  });
});

describe("the lanes of an after hook", () => {
  it("run in the order transform, policy, review, commit", async () => {
    const seen: string[] = [];
    await withTaps(({ afterTask }) => {
      for (const lane of ["commit", "review", "policy", "transform"] as const)
        afterTask.tap({ name: lane, lane }, () => void seen.push(lane));
      afterTask.tap(() => void seen.push("default"));
    });
    expect(seen).to.deep.equal(["transform", "default", "policy", "review", "commit"]);
  });

  it("run the policies again after a review has changed the result", async () => {
    const judged: string[] = [];
    const { output } = await withTaps(({ afterTask }) => {
      afterTask.tap(
        { name: "judge", lane: "policy" },
        (call) => void judged.push(call.output?.raw ?? "?"),
      );
      afterTask.tap({ name: "edit", lane: "review" }, () => replace({ raw: "edited" }));
    });
    expect(judged).to.deep.equal(["work", "edited"]);
    expect(output.raw).to.equal("edited");
  });

  it("run the policies only once after a review that has changed nothing", async () => {
    let judged = 0;
    await withTaps(({ afterTask }) => {
      afterTask.tap({ name: "judge", lane: "policy" }, () => void judged++);
      afterTask.tap({ name: "look", lane: "review" }, () => undefined);
    });
    expect(judged).to.equal(1);
  });

  it("reject an edit that a policy refuses, and commit nothing", async () => {
    let committed = 0;
    const { error } = await withTaps(({ afterTask }) => {
      afterTask.tap({ name: "judge", lane: "policy" }, (call) =>
        call.output?.raw === "edited" ? reject("no edits") : undefined,
      );
      afterTask.tap({ name: "edit", lane: "review" }, () => replace({ raw: "edited" }));
      afterTask.tap({ name: "store", lane: "commit" }, () => void committed++);
    });
    expect(error?.cause).to.have.property("reason", "no edits");
    expect(committed).to.equal(0);
  });

  it("review and commit executed work only: not an answer, a rejection, a failure", async () => {
    const seen: string[] = [];
    const watch = ({ afterTask }: EnsembleHooks): void => {
      for (const lane of ["policy", "review", "commit"] as const)
        afterTask.tap({ name: lane, lane }, (call) => void seen.push(`${lane} ${call.outcome}`));
    };
    await withTaps(
      (hooks) => (
        watch(hooks),
        hooks.beforeTask.tap({ name: "cache", lane: "answer" }, () => answer({ raw: "cached" }))
      ),
    );
    await withTaps((hooks) => (watch(hooks), hooks.beforeTask.tap(() => reject("no"))));
    await withTaps(
      watch,
      new Task({ description: "fails", handler: () => Promise.reject(new Error("broken")) }),
    );
    expect(seen).to.deep.equal(["policy answered"]);
    await withTaps(watch);
    expect(seen.slice(1)).to.deep.equal(["policy ok", "review ok", "commit ok"]);
  });

  it("commit the last result that policies accepted", async () => {
    const committed: string[] = [];
    await withTaps(({ afterTask }) => {
      afterTask.tap(
        { name: "store", lane: "commit" },
        (call) => void committed.push(call.output?.raw ?? "?"),
      );
      afterTask.tap((call) => replace({ raw: `${call.output?.raw ?? ""}!` }));
      afterTask.tap({ name: "edit", lane: "review" }, (call) =>
        replace({ raw: `${call.output?.raw ?? ""}?` }),
      );
    });
    expect(committed).to.deep.equal(["work!?"]);
  });

  it("show a failed step to taps, whose verdicts and errors can't change it", async () => {
    const reason = new Error("broken");
    for (const tap of [
      (): never => replace({ raw: "saved" }) as never,
      (): never => {
        throw new Error("the tap is broken too");
      },
    ]) {
      const seen: string[] = [];
      const { error, output, events } = await withTaps(
        ({ afterTask }) => {
          afterTask.tap((call) => (seen.push(call.outcome), tap()));
        },
        new Task({ description: "fails", handler: () => Promise.reject(reason) }),
      );
      expect(seen).to.deep.equal(["failed"]);
      expect((error?.cause as Error).cause).to.equal(reason);
      expect(output.taskOutputs).to.deep.equal([]);
      expect(events.filter(({ type }) => type === "run_warning")).to.have.length(1);
    }
  });
});

describe("the part that a transform may change", () => {
  it("is the request and the model of a model call", async () => {
    const other = new ScriptedModel(["from the other"]);
    const first = new ScriptedModel(["from the first"]);
    const { output } = await runToEnd({
      model: first,
      tasks: [new Task({ description: "Say", agent: new Agent({ role: "r", goal: "g" }) })],
      plugins: [
        tapping("route", ({ hooks }) => {
          hooks.beforeLlmCall.tap({ name: "r", lane: "transform" }, (call) =>
            replace({ ...call, model: other, request: { ...call.request, temperature: 0 } }),
          );
        }),
      ],
    });
    expect(output.raw).to.equal("from the other");
    expect(first.requests).to.deep.equal([]);
    expect(other.requests[0]?.temperature).to.equal(0);
    expect(output.metrics.ledger[0]?.modelId).to.equal(other.modelId);
  });

  it("is the response of a model call, checked like a model's own", async () => {
    const options = (content: unknown): Parameters<typeof runToEnd>[0] => ({
      model: new ScriptedModel(["plain"]),
      tasks: [new Task({ description: "Say", agent: new Agent({ role: "r", goal: "g" }) })],
      plugins: [
        tapping("after", ({ hooks }) => {
          hooks.afterLlmCall.tap((call) =>
            call.outcome === "ok"
              ? replace({
                  response: {
                    ...call.response,
                    message: { role: "assistant", content: content as string },
                  },
                })
              : undefined,
          );
        }),
      ],
    });
    expect((await runToEnd(options("changed"))).output.raw).to.equal("changed");
    expect((await runToEnd(options(5))).error?.cause).to.have.nested.property(
      "cause.code",
      "AE_MODEL_BAD_RESPONSE",
    );
  });

  it("is the result of a tool call", async () => {
    const { output } = await withTaps(
      ({ afterToolCall }) =>
        afterToolCall.tap((call) =>
          call.outcome === "ok"
            ? replace({ result: ToolResult.success(`${call.result.output}!`) })
            : undefined,
        ),
      new Task({
        description: "x",
        handler: tool({ name: "id", description: "Gives back", execute: (input) => input }),
      }),
    );
    expect(output.raw).to.equal("x!");
  });

  it("is the prompt sections and the context of a task", async () => {
    const model = new ScriptedModel(["done"]);
    await runToEnd({
      model,
      tasks: [new Task({ description: "Say", agent: new Agent({ role: "r", goal: "g" }) })],
      plugins: [
        tapping("notes", ({ hooks }) => {
          hooks.beforeTask.tap({ name: "n", lane: "transform" }, (call) =>
            replace({
              promptSections: [
                ...call.promptSections,
                { slot: "memory", text: "Remember the milk" },
              ],
            }),
          );
        }),
      ],
    });
    expect(model.requests[0]?.messages.at(-1)?.content).to.include("Remember the milk");
  });

  it("is checked by the tool's schema before a policy judges it, so that the policy receives the input of the tool", async () => {
    const judged: unknown[] = [];
    const got: unknown[] = [];
    const add = tool({
      name: "add",
      description: "Adds",
      input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      execute: (input: Readonly<Record<string, unknown>>) => (got.push(input), "added"),
    });
    const call = async (scope: TaskScope, name: string): Promise<string> => {
      const result = await scope.callTool({ id: "1", name, arguments: '{"n":1}' }, [add]);
      return result.ok ? result.output : `refused: ${result.errorMessage ?? ""}`;
    };
    const run = (input: unknown): ReturnType<typeof runToEnd> =>
      withTaps(
        ({ beforeToolCall }) => {
          beforeToolCall.tap(
            { name: "guard" },
            (c) => void (c.tool === add && judged.push(c.input)),
          );
          beforeToolCall.tap({ name: "late", lane: "transform" }, (c) =>
            c.tool === add ? replace({ input }) : undefined,
          );
        },
        scoped("work", (scope) => call(scope, "add")),
      );
    expect((await run({ n: 2 })).output.raw).to.equal("added");
    expect([judged, got]).to.deep.equal([[{ n: 2 }], [{ n: 2 }]]);
    expect((await run({})).output.raw).to.match(/^refused: .*\bn\b/);
    expect(got).to.have.length(1);
  });

  it("does not replace a guardrail: an output guardrail receives the transformed output", async () => {
    const task = new Task({
      description: "x",
      handler: () => "secret",
      outputGuardrails: [
        ({ raw }) => (raw === "clean" ? GuardrailResult.success() : GuardrailResult.failure(raw)),
      ],
    });
    const { output } = await withTaps(
      ({ afterTask }) => afterTask.tap(() => replace({ raw: "clean" })),
      task,
    );
    expect(output.raw).to.equal("clean");
  });
});
