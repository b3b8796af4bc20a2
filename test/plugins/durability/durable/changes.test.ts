import type { EnsembleOptions } from "agentensemble";
import { Task, definePlugin, replace, tool } from "agentensemble";
import type { DurableOptions } from "agentensemble/durability";
import { Journal } from "agentensemble/durability";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { agent, keptEnsemble, modelOf, task } from "./kept-team.js";

describe("a run whose program has changed", () => {
  const play = async (journal: Journal, tasks: Task[], o: DurableOptions = {}) => {
    const { model, calls } = modelOf();
    const warnings: string[] = [];
    const on: EnsembleOptions["on"] = (e) => e.type === "run_warning" && warnings.push(e.message);
    await using ensemble = keptEnsemble({ model, tasks, on }, { journal, ...o });
    const output = await ensemble.run({}, { runId: "r", throwOnError: false });
    return { output, calls, warnings };
  };
  const begun = async (journal: Journal): Promise<void> => {
    const boom = new Task({ name: "end", description: "Ends", handler: (): string => { throw new Error("boom"); } }); // prettier-ignore
    await play(journal, [task("one"), task("two"), boom]);
  };
  const changed = (): Task[] => [task("one", { expectedOutput: "A rhyme" }), task("two")];

  it("fails with the entry and both versions of the changed part", async () => {
    const journal = Journal.inMemory();
    await begun(journal);
    const { output, calls } = await play(journal, changed());
    expect(output.error?.code).to.equal("AE_JOURNAL_MISMATCH");
    expect(output.error?.message).to.include("T:one@1").and.include("expected output").and.include("A rhyme"); // prettier-ignore
    expect(calls).to.deep.equal([]);
    expect((await journal.entries("r")).length).to.equal(4);
  });

  it("continues with the stored output, or repeats the task, by the option", async () => {
    for (const [onChange, made] of [
      ["keep", []],
      ["redo", ["one"]],
    ] as const) {
      const journal = Journal.inMemory();
      await begun(journal);
      const { output, calls } = await play(journal, changed(), { onChange });
      expect(output.error?.message).to.equal(undefined);
      expect(calls, onChange).to.deep.equal(made);
      const again = await play(journal, changed(), { onChange });
      expect(again.output.raw).to.equal("done two");
      expect(again.calls).to.deep.equal([]);
    }
  });

  it("is compared call by call in a task that was in progress", async () => {
    for (const [onChange, code, made] of [
      ["fail", "AE_JOURNAL_MISMATCH", 0],
      ["keep", undefined, 1],
      ["redo", undefined, 2],
    ] as const) {
      const journal = Journal.inMemory();
      const look = tool({ name: "look", description: "Looks", effect: "read", execute: () => "seen" }); // prettier-ignore
      let calls = 0;
      let isBroken = true;
      const model = new ScriptedModel(({ messages }) => {
        const isLast = messages.some(({ role }) => role === "tool");
        if (isLast && isBroken) throw new Error("not today");
        calls++;
        const usage = { inputTokens: 1, outputTokens: 1 };
        return isLast
          ? { text: "done", usage }
          : { toolCalls: [{ name: "look", arguments: { input: "x" } }], usage };
      });
      const run = async (expectedOutput: string) => {
        const tasks = [task("one", { expectedOutput, agent: agent("one", { tools: [look] }) })];
        await using ensemble = keptEnsemble({ model, tasks }, { journal, onChange });
        return await ensemble.run({}, { runId: "r", throwOnError: false });
      };
      await run("A text");
      [calls, isBroken] = [0, false];
      const output = await run("A rhyme");
      expect([output.error?.code, calls], onChange).to.deep.equal([code, made]);
      if (onChange === "fail") expect(output.error?.message).to.include("C:one@1/task/0");
      else expect(output.metrics.llmCallCount, onChange).to.equal(made + 1);
    }
  });

  it("keeps the answers before the changed call if the task is executed again", async () => {
    const journal = Journal.inMemory();
    let hint = "";
    const hinted = definePlugin({
      name: "hinted",
      apply({ hooks }) {
        hooks.beforeLlmCall.tap({ name: "hint", lane: "transform", order: "pre" }, (call) => {
          const { iteration, request } = call;
          if (iteration === 0 || hint === "") return undefined;
          const message = { role: "user" as const, content: hint };
          return replace({ request: { ...request, messages: [...request.messages, message] } });
        });
      },
    });
    const look = tool({
      name: "look",
      description: "Looks",
      effect: "read",
      execute: () => "seen",
    });
    const model = new ScriptedModel(({ messages }) => {
      const turns = messages.filter(({ role }) => role === "assistant").length;
      if (turns === 2 || (turns === 1 && hint !== "")) throw new Error("not today");
      return { toolCalls: [{ name: "look", arguments: { input: "x" }, id: `look-${turns}` }] };
    });
    const tasks = [task("one", { agent: agent("one", { tools: [look] }) })];
    for (hint of ["", "Be brief"]) {
      const ensemble = keptEnsemble(
        { model, tasks, plugins: [hinted] },
        { journal, onChange: "redo" },
      );
      await ensemble.run({}, { runId: "r", throwOnError: false });
      await ensemble.dispose();
    }
    const keys = (await journal.entries("r")).map(({ key }) => key);
    expect(keys).to.include("C:one@1/task/0").and.include("K:one@1/look-0/look");
    expect(keys).not.to.include("C:one@1/task/1");
  });

  it("makes no model call if it is completed", async () => {
    const journal = Journal.inMemory();
    await play(journal, [task("one")]);
    const { output, calls } = await play(journal, [task("one"), task("two")]);
    expect([output.error?.code, calls]).to.deep.equal(["AE_JOURNAL_MISMATCH", []]);
    expect(await journal.get("r")).to.include({ status: "completed", executions: 1 });
  });

  it("names entries that the program no longer requests", async () => {
    const journal = Journal.inMemory();
    await begun(journal);
    const { output, warnings } = await play(journal, [task("two"), task("three")]);
    expect(output.isComplete).to.equal(true);
    expect(warnings.join()).to.include("T:one@1");
  });

  it("continues from its finished tasks alone with keep: tasks", async () => {
    const journal = Journal.inMemory();
    const { model } = modelOf(() => "two");
    await using first = keptEnsemble({ model, tasks: [task("one"), task("two")] }, { journal, keep: "tasks" }); // prettier-ignore
    await first.run({}, { runId: "r", throwOnError: false });
    expect((await journal.entries("r")).map(({ key }) => key)).to.deep.equal(["T:one@1"]);
    const { calls, output } = await play(journal, [task("one"), task("two")], { keep: "tasks" });
    expect([calls, output.metrics.llmCallCount]).to.deep.equal([["two"], 2]);
  });

  it("refuses an entry that is too large", async () => {
    const { output } = await play(Journal.inMemory(), [task("one")], { maxEntryBytes: 100 });
    expect(output.error?.code).to.equal("AE_JOURNAL");
    expect(output.error?.message).to.include("C:one@1/task/0").and.include("maxEntryBytes");
  });

  it("removes secrets from entries, and marks texts without them", async () => {
    const journal = Journal.inMemory();
    const secret = "sk-test-0123456789abcdef0123456789";
    const play2 = async (fails: boolean) => {
      const warnings: string[] = [];
      const asked: string[] = [];
      const model = new ScriptedModel(({ messages }) => {
        const text = JSON.stringify(messages);
        if (text.includes("Do two") && fails) throw new Error("not today");
        asked.push(text);
        return `The key is ${secret}`;
      });
      await using ensemble = keptEnsemble(
        {
          model,
          tasks: [task("one"), task("two")],
          memory: { shortTerm: true },
          on: (e) => e.type === "run_warning" && warnings.push(e.message),
        },
        { journal },
      );
      const output = await ensemble.run({}, { runId: "s", throwOnError: false });
      return { output, warnings, asked };
    };
    await play2(true);
    expect(JSON.stringify(await journal.entries("s"))).not.to.include(secret);
    const { output, warnings, asked } = await play2(false);
    expect(output.error?.message).to.equal(undefined);
    expect(asked.length).to.equal(1);
    expect(warnings.join()).to.include("[redacted]");
  });
});
