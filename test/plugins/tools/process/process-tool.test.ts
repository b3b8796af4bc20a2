import { expect } from "chai";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { toolContract } from "agentensemble/testing";
import {
  RunCancelledError,
  ToolConfigurationError,
  ValidationError,
} from "../../../../src/contracts/errors.js";
import type { ToolContext } from "../../../../src/contracts/tool.js";
import { ToolResult } from "../../../../src/contracts/tool-result.js";
import type { ProcessToolOptions } from "../../../../src/plugins/tools/process/index.js";
import { processTool } from "../../../../src/plugins/tools/process/index.js";
import { isRunning, untilWritten, writtenPids } from "../../../support/process-tree.js";
import { rejectionOf } from "../../../support/rejection.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { setEnvironment } from "../../../support/environment.js";

const base = { name: "script", description: "Runs a script" };
const printing = (text: string): readonly string[] => ["printf", "%s", text];
const shell = (script: string): readonly string[] => ["sh", "-c", script];

async function call(
  options: Partial<ProcessToolOptions>,
  input = "the input",
  signal = new AbortController().signal,
): Promise<ToolResult> {
  const context = { signal } as ToolContext; // what this tool uses of it
  const result = await processTool({ ...base, command: ["cat"], ...options }).execute(
    input,
    context,
  );
  if (!ToolResult.isInstance(result)) throw new Error("no ToolResult");
  return result;
}

toolContract("processTool", {
  create: () =>
    processTool({
      ...base,
      command: [process.execPath, "-e", "process.stdin.pipe(process.stdout)"],
    }),
  valid: ["a", "", "ü\u2028\0"],
});
toolContract("processTool with a program that fails", {
  create: () =>
    processTool({ ...base, command: shell('read line; case "$line" in *fail*) exit 1;; esac') }),
  valid: ["a"],
  failing: ["fail"],
});

describe("processTool", () => {
  it("passes the input as JSON to the standard input", async () => {
    for (const input of [
      "a",
      "",
      '"; exit 1; #',
      "line\nline",
      '{"output":"x"}',
      "-n --help $(id)",
    ]) {
      expect((await call({}, input)).output).to.equal(JSON.stringify({ input }));
    }
  });

  it("returns no secret of its environment", async () => {
    const env = { SERVICE_KEY: "swordfish-1234", CITY: "Oslo" };
    const failed = await call({
      env,
      command: shell('echo "$CITY: bad key $SERVICE_KEY" >&2; exit 1'),
    });
    expect(failed.errorMessage).to.equal("Oslo: bad key [redacted]");
    const worked = await call({
      env,
      command: shell(`printf '{"output":"%s","structured":{"key":"%s"}}' "$CITY" "$SERVICE_KEY"`),
    });
    expect([worked.output, worked.structured]).to.deep.equal(["Oslo", { key: "[redacted]" }]);
  });

  describe("reads the output", () => {
    const cases: readonly (readonly [
      string,
      string,
      { readonly output?: string; readonly error?: string; readonly structured?: unknown },
    ])[] = [
      ["plain text, trimmed", "  two\nlines \n", { output: "two\nlines" }],
      ["nothing", " \n", { output: "" }],
      ["output", '{"output":"done"}', { output: "done" }],
      [
        "output and structured",
        '{"output":"done","structured":{"n":1}}',
        { output: "done", structured: { n: 1 } },
      ],
      ["output that is not a text", '{"output":{"n":[1,null]}}', { output: '{"n":[1,null]}' }],
      ["output null", '{"output":null,"structured":null}', { output: "" }],
      ["success true", '{"output":"fine","success":true,"error":"ignored"}', { output: "fine" }],
      [
        "success false with an error",
        '{"success":false,"error":"no such city"}',
        { error: "no such city" },
      ],
      [
        "success false without one",
        '{"output":"x","success":false}',
        { error: "Process returned success=false" },
      ],
      [
        "success false with a blank error",
        '{"success":false,"error":""}',
        { error: "Process returned success=false" },
      ],
      ["other JSON objects", '{"temperature":5}', { output: '{"temperature":5}' }],
      ["success true alone", '{"success":true}', { output: '{"success":true}' }],
      ["JSON that is not an object", "[1,2]", { output: "[1,2]" }],
      ["a truncated JSON document", '{"output":"x', { output: '{"output":"x' }],
      [
        "keys of the prototype",
        '{"__proto__":{"output":"x"}}',
        { output: '{"__proto__":{"output":"x"}}' },
      ],
    ];
    for (const [title, text, { output = "", error, structured }] of cases) {
      it(title, async () => {
        const result = await call({ command: printing(text) });
        expect(result).to.deep.include({
          ok: error === undefined,
          output,
          errorMessage: error,
          structured,
        });
      });
    }
  });

  it("describes a failure by the error output, else by the exit code or the signal", async () => {
    expect(
      (await call({ command: shell("echo out; echo ' broken ' >&2; exit 3") })).errorMessage,
    ).to.equal("broken");
    expect(
      (await call({ command: shell('echo \'{"output":"x"}\'; exit 3') })).errorMessage,
    ).to.equal("Process exited with code 3");
    expect((await call({ command: shell("kill -KILL $$") })).errorMessage).to.equal(
      "Process was ended by SIGKILL",
    );
  });

  it("cuts the output at the limit and reports this", async () => {
    expect((await call({ command: printing("123456"), maxOutputBytes: 4 })).output).to.equal(
      "1234\n[output truncated at 4 bytes]",
    );
    expect(
      (await call({ command: shell("printf 123456 >&2; exit 1"), maxOutputBytes: 4 })).errorMessage,
    ).to.equal("1234\n[output truncated at 4 bytes]");
  });

  it("ends the program and all its processes at the time limit", async () => {
    const dir = temporaryFolder();
    const result = await call({
      command: shell("sleep 60 & echo $! > a.pid; wait"),
      cwd: dir,
      timeoutMs: 500,
    });
    expect(result.errorMessage).to.equal("Process timed out after 0.5 seconds: sh");
    for (const pid of await writtenPids(dir)) expect(await isRunning(pid)).to.equal(false);
  });

  it("ends the program at the signal of the call, for any grace period", async () => {
    const dir = temporaryFolder();
    const controller = new AbortController();
    const work = call(
      { command: shell("echo $$ > a.pid; sleep 60"), cwd: dir, killGraceMs: 60_000 },
      "",
      controller.signal,
    );
    await untilWritten(dir);
    controller.abort();
    await rejectionOf(RunCancelledError, work);
    for (const pid of await writtenPids(dir)) expect(await isRunning(pid)).to.equal(false);
  });

  it("waits for its grace period", async () => {
    const command = shell(
      "trap 'sleep 0.3; echo cleaned > done.pid; exit 0' TERM; sleep 60 & wait",
    );
    const dir = temporaryFolder();
    await call({ command, cwd: dir, timeoutMs: 300, killGraceMs: 5000 });
    await call({ command: shell("test -s done.pid"), cwd: dir }).then(({ ok }) =>
      expect(ok).to.equal(true),
    );
    await rm(join(dir, "done.pid"));
    await call({ command, cwd: dir, timeoutMs: 300, killGraceMs: 0 });
    await call({ command: shell("test -s done.pid"), cwd: dir }).then(({ ok }) =>
      expect(ok).to.equal(false),
    );
  });

  it("passes the given variables to the program, and of this process only the allowed ones", async () => {
    setEnvironment({ PROCESS_TOOL_TEST: "ours" });
    const command = shell('echo "$PROCESS_TOOL_TEST|$EXTRA"');
    expect((await call({ command, env: { EXTRA: "x" } })).output).to.equal("|x");
    expect((await call({ command, allowedEnv: ["PATH", "PROCESS_TOOL_TEST"] })).output).to.equal(
      "ours|",
    );
  });

  it("runs in its folder, and in its sandbox", async () => {
    expect((await call({ command: ["pwd"], cwd: "/" })).output).to.equal("/");
    expect(
      (await call({ command: shell("echo $IN"), sandbox: ["env", "IN=sandbox"] })).output,
    ).to.equal("sandbox");
  });

  it("reports a program that can't be started to the model, and fails the task if the sandbox can't", async () => {
    expect((await call({ command: ["no-such-program"] })).errorMessage).to.match(
      /^Failed to start process: 'no-such-program'/,
    );
    await rejectionOf(ToolConfigurationError, call({ sandbox: ["no-such-sandbox"] }));
  });

  it("shows a reviewer the command and the start and the end of a long input", () => {
    const tool = processTool({ ...base, command: ["wc", "-l"], requireApproval: true });
    expect(tool.requireApproval).to.equal(true);
    expect(tool.approvalDescription?.("abc")).to.equal("Execute command: wc -l\nInput: abc");
    expect(tool.approvalDescription?.("x".repeat(201))).to.equal(
      `Execute command: wc -l\nInput: ${"x".repeat(100)} ... [201 characters] ... ${"x".repeat(100)}`,
    );
    expect(tool.approvalDescription?.("x".repeat(200))).to.not.contain("...");
  });

  it("declares its properties: output from outside, an unknown effect and no approval by default", () => {
    expect(processTool({ ...base, command: ["ls"] })).to.include({
      untrusted: true,
      effect: undefined,
      requireApproval: false,
      name: "script",
    });
    expect(processTool({ ...base, command: ["ls"], effect: "read" }).effect).to.equal("read");
  });

  it("ignores later changes of the given list", async () => {
    const command = ["echo", "a"];
    const tool = processTool({ ...base, command });
    command[0] = "false";
    const result = await tool.execute("", { signal: new AbortController().signal } as ToolContext); // what it uses
    expect(result).to.have.property("output", "a");
  });

  const wrong: readonly (readonly [string, object, string])[] = [
    ["no command", { ...base }, "command must be set"],
    ["an empty command", { ...base, command: [] }, "command must not be empty"],
    ["a blank name", { ...base, name: "", command: ["ls"] }, "name must not be blank"],
    ["a name that models cannot write", { ...base, name: "my tool", command: ["ls"] }, "my tool"],
    [
      "a blank description",
      { name: "a", description: " ", command: ["ls"] },
      "description must not be blank",
    ],
    ["a time limit of 0", { ...base, command: ["ls"], timeoutMs: 0 }, "timeoutMs"],
    ["an invalid effect", { ...base, command: ["ls"], effect: "destroy" }, "effect"],
    [
      "an approval that is not a boolean",
      { ...base, command: ["ls"], requireApproval: "yes" },
      "requireApproval",
    ],
    ["a misspelt option", { ...base, command: ["ls"], timeoutMS: 5 }, "timeoutMs"],
  ];
  for (const [title, options, text] of wrong) {
    it(`refuses ${title}`, () => {
      expect(() => processTool(options as ProcessToolOptions)).to.throw(ValidationError, text); // on purpose
    });
  }
});
