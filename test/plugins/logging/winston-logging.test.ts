import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import winston from "winston";
import { winstonConsole } from "../../../src/plugins/logging/winston-console.js";
import { ValidationError } from "../../../src/contracts/errors.js";
import { RateLimit } from "../../../src/contracts/rate-limit.js";
import type { DelegationRequest, EnsembleOptions } from "../../../src/index.js";
import { Agent, Ensemble, Kernel, Task, tool, ToolResult } from "../../../src/index.js";
import type { LogContext, WinstonLike } from "../../../src/plugins/logging/index.js";
import { winstonLogging } from "../../../src/plugins/logging/index.js";
import { fallback } from "../../../src/plugins/resilience/fallback/index.js";
import { ScriptedModel } from "../../../src/plugins/testing/index.js";
import { projectRoot } from "../../support/project.js";
import { failed } from "../resilience/llm-calls.js";

interface Entry {
  readonly level: string;
  readonly message: string;
  readonly context: LogContext;
}

/** A logger that keeps what it gets; `log` alone, for all levels. */
function keepingLogger(): {
  readonly logger: WinstonLike;
  readonly entries: readonly Entry[];
  lines(level?: string): readonly string[];
} {
  const entries: Entry[] = [];
  const lines = (level?: string): readonly string[] =>
    entries.filter((e) => level === undefined || e.level === level).map((e) => e.message);
  return {
    logger: { log: (level, message, context) => void entries.push({ level, message, context }) },
    entries,
    lines,
  };
}

async function logged(
  options: EnsembleOptions,
  run?: { readonly toolLogTruncateLength?: number },
): Promise<ReturnType<typeof keepingLogger>> {
  const kept = keepingLogger();
  await using ensemble = new Ensemble({
    ...options,
    plugins: [...(options.plugins ?? []), winstonLogging({ logger: kept.logger })],
  });
  await ensemble.run({}, { throwOnError: false, runId: "run-7", ...run });
  return kept;
}

const echo = tool({
  name: "echo",
  description: "Repeats",
  execute: (input) => `${input} `.repeat(40),
});
const refuse = tool({
  name: "refuse",
  description: "Refuses",
  execute: () => ToolResult.failure("no such city"),
});
const explode = tool({
  name: "explode",
  description: "Throws",
  execute: () => Promise.reject(new Error("boom")),
});
const calls = (...names: readonly string[]): ScriptedModel =>
  new ScriptedModel([
    { toolCalls: names.map((name) => ({ name, arguments: { input: "abc".repeat(4) } })) },
    "Done",
  ]);
const worker = new Agent({ role: "Worker", goal: "Work", tools: [echo, refuse, explode] });

describe("winstonLogging", () => {
  it("logs the course of a run, its tasks with their position and their agent", async () => {
    const description = `Describe ${"very ".repeat(30)}long rivers`;
    const { lines, entries } = await logged({
      model: new ScriptedModel(["One", "Two"]),
      tasks: [new Task({ description, agent: worker }), Task.of("Describe lakes")],
    });
    const info = lines("info");
    expect(info[0]).to.equal("Ensemble run started | Workflow: SEQUENTIAL | Tasks: 2");
    expect(info[1]).to.equal(
      `Task 1/2 starting | Description: ${description.slice(0, 80)}... | Agent: Worker`,
    );
    expect(info[2]).to.match(/^Task 1\/2 completed \| Duration: \d+ms \| Tool calls: 0$/);
    expect(info[3]).to.match(/^Task 2\/2 starting \| Description: Describe lakes \| Agent: /);
    expect(info.at(-1)).to.match(
      /^Ensemble run ended \| Exit reason: COMPLETED \| Duration: \d+ms \| Tool calls: 0 \| Tokens: -?\d+$/,
    );
    expect(entries[0]?.context).to.deep.equal({ runId: "run-7" });
    expect(
      entries.find(({ message }) => message.startsWith("Task 1/2 completed"))?.context,
    ).to.deep.equal({
      runId: "run-7",
      taskId: "task-1",
      agentRole: "Worker",
      taskIndex: "1/2",
    });
  });

  it("logs no secrets, even if a text is cut within one", async () => {
    const key = "sk-live-3f9a7c51e2d84b60";
    const input = { password: "hunter2", text: `${"x".repeat(150)} ${key}` };
    const model = Object.assign(
      new ScriptedModel([
        { toolCalls: [{ name: "explode", arguments: input }] },
        `Ada has model-secret and ${key}`,
      ]),
      {
        redact: (text: string) => text.replaceAll("model-secret", "[mine]"),
      },
    );
    const { lines } = await logged({
      model,
      verbose: true,
      tasks: [new Task({ description: `Tell of ${key}`, agent: worker })],
    });
    const text = lines().join("\n");
    expect(text).to.include("Ada has [mine] and [redacted]").and.include('"password":"[redacted]"');
    for (const secret of ["sk-live", "hunter2", "model-secret"])
      expect(text).to.not.include(secret);
  });

  it("logs tool calls at level info and failed calls as warnings, cut to 200 characters", async () => {
    const { lines } = await logged({
      model: calls("echo", "refuse", "explode"),
      tasks: [new Task({ description: "Work", agent: worker })],
    });
    const output = `${"abc".repeat(4)} `.repeat(40).slice(0, 200);
    expect(lines("info")[2]).to.match(
      new RegExp(
        `^\\[Worker\\] Tool call: echo\\(\\{"input":"abcabcabcabc"\\}\\) -> ${output}\\.\\.\\. \\[\\d+ms\\]$`,
      ),
    );
    expect(lines("warn")).to.deep.equal([
      '[Worker] Tool error: refuse({"input":"abcabcabcabc"}) -> Error: no such city',
      '[Worker] Tool error: explode({"input":"abcabcabcabc"}) -> Tool error: boom',
    ]);
  });

  it("cuts tools' input and output to toolLogTruncateLength of the run, else of the ensemble", async () => {
    const toolLine = async (ofEnsemble: number, ofRun?: number): Promise<string> => {
      const options = {
        model: calls("echo"),
        toolLogTruncateLength: ofEnsemble,
        tasks: [new Task({ description: "Work", agent: worker })],
      };
      return (
        (await logged(options, ofRun === undefined ? {} : { toolLogTruncateLength: ofRun })).lines(
          "info",
        )[2] ?? ""
      );
    };
    expect(await toolLine(5)).to.match(
      /^\[Worker\] Tool call: echo\(\{"inp\.\.\.\) -> abcab\.\.\. \[\d+ms\]$/,
    );
    expect(await toolLine(5, 0)).to.match(/^\[Worker\] Tool call: echo\(\) -> {2}\[\d+ms\]$/);
    expect(await toolLine(0, -1)).to.include(`${"abcabcabcabc ".repeat(39)}abcabcabcabc [`);
  });

  it("logs prompts and answers at debug, and complete answers at silly", async () => {
    const { lines } = await logged({
      model: new ScriptedModel(["Hel\nlo"]),
      tasks: [new Task({ description: "Greet", agent: worker })],
    });
    expect(lines("info").join("\n")).not.to.include("prompt");
    expect(lines("debug")[0]).to.equal("Task 1/1 context: 0 prior outputs");
    expect(lines("debug")[1]).to.match(/^System prompt \(\d+ chars\):\n/);
    expect(lines("debug")[2])
      .to.match(/^User prompt \(\d+ chars\):\n/)
      .and.include("Greet");
    expect(lines("debug")).to.include("Agent response (6 chars): Hel lo");
    expect(lines("silly")).to.deep.equal(["Full agent response:\nHel\nlo"]);
  });

  it("logs prompts and answers at info for a verbose ensemble or agent, and the beginning of the output", async () => {
    const loud = new Agent({ role: "Loud", goal: "Talk", verbose: true });
    for (const options of [
      { verbose: true, tasks: [new Task({ description: "Greet", agent: worker })] },
      { tasks: [new Task({ description: "Greet", agent: loud })] },
    ]) {
      const { lines } = await logged({ ...options, model: new ScriptedModel(["Hello"]) });
      const info = lines("info");
      expect(info.filter((line) => /^(System|User) prompt:\n/.test(line))).to.have.length(2);
      expect(info).to.include("Agent response:\nHello");
      expect(info).to.include("Task 1/1 output preview: Hello");
      expect(lines("debug").join()).not.to.include("prompt");
    }
  });

  it("logs a warning for an empty answer, retries and warnings of the framework", async () => {
    const { lines } = await logged({
      model: new ScriptedModel([failed("AE_MODEL_SERVER")]),
      tasks: [new Task({ description: "Work", agent: worker })],
      plugins: [fallback([new ScriptedModel([""])])],
    });
    expect(lines("warn")).to.deep.equal([
      "[Worker] Model call failed (attempt 1), trying again in 0ms | Reason: the call failed with AE_MODEL_SERVER",
      "Agent 'Worker' returned empty response for task 'Work'",
    ]);
  });

  it("reports waits for a rate limit", async () => {
    const { lines } = await logged({
      model: new ScriptedModel(() => "Hi"),
      rateLimit: RateLimit.of(1, 500),
      workflow: "PARALLEL",
      tasks: [Task.of("A"), Task.of("B")],
    });
    expect(
      lines("info").filter((line) =>
        /\] Model call waits \d+ms for its rate limit \(1 per 500ms\)$/.test(line),
      ),
    ).to.have.length(1);
  });

  it("logs failures as errors, and a cancelled task as a warning", async () => {
    const { lines } = await logged({
      model: new ScriptedModel([failed("AE_MODEL_AUTH")]),
      tasks: [new Task({ description: "Work", agent: worker })],
    });
    expect(lines("error")[0]).to.match(
      /^Task 1\/1 failed \| Duration: \d+ms \| Reason: .*AE_MODEL_AUTH/,
    );
    expect(lines("error")[1]).to.match(
      /^Ensemble run failed \| AE_TASK_EXECUTION \| Task failed: Work: .+$/,
    );
    expect(lines("warn")[0]).to.match(/Exit reason: ERROR/);

    const kept = keepingLogger();
    await using ensemble = new Ensemble({
      model: new ScriptedModel([{ text: "late", delayMs: 5_000 }]),
      tasks: [Task.of("Work")],
      plugins: [winstonLogging({ logger: kept.logger })],
    });
    await ensemble.run({}, { throwOnError: false, signal: AbortSignal.timeout(20) });
    expect(kept.lines("error")).to.deep.equal([]);
    expect(kept.lines("warn").some((line) => line.startsWith("Task 1/1 failed"))).to.equal(true);
  });

  it("marks the lines of delegated tasks with their parent, delegation and depth", async () => {
    const request = (agentRole: string, n: number): DelegationRequest => ({
      taskId: `delegation-${n}`,
      agentRole,
      taskDescription: `Part ${n}`,
      scope: {},
      priority: "NORMAL",
      maxOutputRetries: 0,
      metadata: {},
    });
    const hand = tool({
      name: "hand_over",
      description: "Delegates",
      execute: async (_input, { scope }) => {
        const responses = await Promise.all(
          [1, 2].map((n) => scope.delegate(request("Helper", n))),
        );
        return responses.map(({ status }) => status).join();
      },
    });
    const lead = new Agent({ role: "Lead", goal: "Lead", tools: [hand] });
    const helper = new Agent({ role: "Helper", goal: "Help" });
    const model = new ScriptedModel(({ messages }) => {
      if (JSON.stringify(messages).includes("You are Helper")) return "Part done";
      return messages.some(({ role }) => role === "tool")
        ? "All done"
        : { toolCalls: [{ name: "hand_over", arguments: { input: "x" } }] };
    });
    const { entries } = await logged({
      model,
      agents: [helper],
      tasks: [new Task({ description: "Lead it", agent: lead })],
    });
    const starts = entries.filter(({ message }) => /^Task task-1\.\d starting/.test(message));
    expect(starts.map(({ context }) => context)).to.deep.equal(
      [1, 2].map((n) => ({
        runId: "run-7",
        taskId: `task-1.${n}`,
        agentRole: "Helper",
        parentTaskId: "task-1",
        delegationId: `delegation-${n}`,
        delegationDepth: 1,
      })),
    );
    expect(entries.map(({ message }) => message)).to.include(
      "[Lead] Delegating to 'Helper': Part 1",
    );
  });

  it("separates concurrent runs", async () => {
    const kept = keepingLogger();
    await using kernel = new Kernel({ plugins: [winstonLogging({ logger: kept.logger })] });
    const run = (verbose: boolean, runId: string): Promise<unknown> => {
      const tasks = [new Task({ description: "Greet", agent: worker })];
      return new Ensemble({
        kernel,
        verbose,
        model: new ScriptedModel([{ text: "Hi", delayMs: 10 }]),
        tasks,
      }).run({}, { runId });
    };
    await Promise.all([run(true, "loud"), run(false, "quiet")]);
    const prompts = kept.entries.filter(
      ({ level, message }) => level === "info" && message.startsWith("System prompt"),
    );
    expect(prompts.map(({ context }) => context.runId)).to.deep.equal(["loud"]);
  });

  it("escapes text from outside that could begin a line or control the terminal", async () => {
    const evil = tool({
      name: "evil",
      description: "Tricks",
      execute: () => "a\r\n2026-01-01 error forged\u001b[31m red\u202e\u2028b",
    });
    const { lines } = await logged({
      model: calls("evil"),
      tasks: [
        new Task({
          description: "Work\non it",
          agent: new Agent({ role: "R\u001b[1m\nX", goal: "g", tools: [evil] }),
        }),
      ],
    });
    expect(lines("info")[1]).to.equal("Task 1/1 starting | Description: Work on it | Agent: R X");
    expect(lines("info")[2]).to.match(
      /^\[R X\] Tool call: evil\(.*\) -> a 2026-01-01 error forged red b \[\d+ms\]$/,
    );
  });

  it("escapes control characters in the context of a line", async () => {
    const written: string[] = [];
    const write = process.stderr.write.bind(process.stderr);
    process.stderr.write = (text: string) => written.push(text) > 0;
    try {
      const sink = await winstonConsole("info");
      sink.write("info", "a line", { runId: "r\u009b31m\u202e" }, "now");
      await sink.close();
    } finally {
      process.stderr.write = write;
    }
    expect(written.join("")).to.equal('now info a line {"runId":"r\\u009b31m\\u202e"}\n');
  });

  it("accepts winston's own loggers, including other levels, and builds no line below the level", async () => {
    for (const levels of [winston.config.npm.levels, winston.config.syslog.levels]) {
      const seen: string[] = [];
      const keep = winston.format(
        (entry) => (
          seen.push(`${entry.level} ${String(entry.message)} ${String(entry["runId"])}`),
          false
        ),
      );
      const logger = winston.createLogger({
        levels,
        level: "info",
        format: keep(),
        transports: [new winston.transports.Console()],
      });
      const model = calls("refuse");
      await using ensemble = new Ensemble({
        model,
        tasks: [new Task({ description: "Work", agent: worker })],
        plugins: [winstonLogging({ logger })],
      });
      await ensemble.run({}, { runId: "run-7" });
      expect(seen[0]).to.equal("info Ensemble run started | Workflow: SEQUENTIAL | Tasks: 1 run-7");
      expect(seen.some((line) => /^warn(ing)? \[Worker\] Tool error: refuse/.test(line))).to.equal(
        true,
      );
      expect(seen.some((line) => line.startsWith("debug"))).to.equal(false);
    }
  });

  it("accepts a logger with methods for its levels, such as the console", async () => {
    const seen: string[] = [];
    const method = (level: string) => (message: string) => void seen.push(`${level} ${message}`);
    const logger = {
      error: method("error"),
      warn: method("warn"),
      info: method("info"),
      debug: method("debug"),
    };
    await using ensemble = new Ensemble({
      model: new ScriptedModel(["Hi"]),
      tasks: [Task.of("Greet")],
      plugins: [winstonLogging({ logger })],
    });
    await ensemble.run();
    expect(seen[0]).to.equal("info Ensemble run started | Workflow: SEQUENTIAL | Tasks: 1");
    expect(seen.some((line) => line.startsWith("debug Full agent response:"))).to.equal(true);
  });

  it("protects a run from a logger that throws", async () => {
    const warnings: string[] = [];
    const logger = {
      log: () => {
        throw new Error("disk full");
      },
    };
    await using ensemble = new Ensemble({
      model: new ScriptedModel(["Hi"]),
      tasks: [Task.of("Greet")],
      plugins: [winstonLogging({ logger })],
      on: (e) => void (e.type === "run_warning" && warnings.push(e.message)),
    });
    expect((await ensemble.run()).raw).to.equal("Hi");
    expect(warnings.join()).to.include("disk full");
  });

  it("refuses unknown options and levels, an invalid logger, and a level next to a logger", () => {
    expect(() => winstonLogging({ levle: "info" } as object)).to.throw(ValidationError, /level/);
    expect(() => winstonLogging({ level: "loud" as never })).to.throw(ValidationError, /loud/);
    expect(() => winstonLogging({ logger: {} })).to.throw(ValidationError, /logger/);
    expect(() => winstonLogging({ logger: null as never })).to.throw(ValidationError, /logger/);
    expect(() => winstonLogging({ logger: console, level: "info" })).to.throw(
      ValidationError,
      /not both/,
    );
  });

  describe("without a logger", () => {
    async function run(
      plugin: string,
    ): Promise<{ readonly stdout: string; readonly stderr: string }> {
      const program = `
        import { Ensemble, Task } from "agentensemble";
        import { ScriptedModel } from "agentensemble/testing";
        import { winstonLogging } from "agentensemble/logging";
        const plugins = [${plugin}];
        const ensemble = new Ensemble({ model: new ScriptedModel(["Line one\\nLine two"]), tasks: [Task.of("Greet")], plugins });
        await ensemble.run({}, { runId: "run-7" });
        await ensemble.dispose();`;
      return promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], {
        cwd: projectRoot,
      });
    }

    it("writes to standard error, with the time, the level, the text and the context", async () => {
      const { stdout, stderr } = await run("winstonLogging()");
      expect(stdout).to.equal("");
      const lines = stderr.trimEnd().split("\n");
      expect(lines).to.have.length(4);
      expect(lines[0]).to.match(
        /^\d{4}-\d\d-\d\dT[\d:.]+Z info Ensemble run started \| Workflow: SEQUENTIAL \| Tasks: 1 \{"runId":"run-7"\}$/,
      );
      expect(lines[1]).to.include('"taskId":"task-1"').and.include('"taskIndex":"1/1"');
      expect(lines[3]).to.include("Ensemble run ended");
    });

    it("writes only lines of its level, with continuation lines indented", async () => {
      expect((await run('winstonLogging({ level: "error" })')).stderr).to.equal("");
      expect((await run('winstonLogging({ level: "silly" })')).stderr).to.match(
        /silly Full agent response:\n {4}Line one\n {4}Line two \{"runId":"run-7","taskId":"task-1"/,
      );
    });

    it("is silent without the plugin", async () => {
      expect(await run("")).to.deep.equal({ stdout: "", stderr: "" });
    });
  });
});
