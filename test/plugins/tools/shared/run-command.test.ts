import { expect } from "chai";
import { spawn } from "node:child_process";
import { getEventListeners, setMaxListeners } from "node:events";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  RunCancelledError,
  TaskTimeoutError,
  ToolConfigurationError,
  ValidationError,
} from "../../../../src/contracts/errors.js";
import { AccessDeniedError, CommandError } from "../../../../src/contracts/state-errors.js";
import type { RunCommandOptions } from "../../../../src/plugins/tools/process/index.js";
import { DEFAULT_ALLOWED_ENV, runCommand } from "../../../../src/plugins/tools/process/index.js";
import { isRunning, untilWritten, writtenPids } from "../../../support/process-tree.js";
import { rejectionOf } from "../../../support/rejection.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { pause, until } from "../../../support/time.js";
import { setEnvironment } from "../../../support/environment.js";

const shell = (script: string, options: Partial<RunCommandOptions> = {}): RunCommandOptions => ({
  command: ["sh", "-c", script],
  timeoutMs: 20_000,
  ...options,
});
const program = (source: string, ...args: readonly string[]): readonly string[] => [
  process.execPath,
  "-e",
  source,
  ...args,
];
/** In a script: waits until the file a.pid is written. */
const WRITTEN = "while [ ! -s a.pid ]; do sleep 0.02; done";

let dir: string;
beforeEach(() => {
  dir = temporaryFolder();
});

describe("runCommand", () => {
  it("returns outputs, exit code and duration", async () => {
    const result = await runCommand(shell("echo out; echo err >&2; exit 3"));
    expect(result).to.include({
      exitCode: 3,
      signal: undefined,
      stdout: "out\n",
      stderr: "err\n",
      timedOut: false,
      truncated: false,
    });
    expect(result.durationMs).to.be.greaterThan(0);
    expect(result.leftRunning).to.deep.equal([]);
  });

  it("names the signal that ended the program", async () => {
    expect(await runCommand(shell("kill -KILL $$"))).to.include({
      exitCode: undefined,
      signal: "SIGKILL",
      timedOut: false,
    });
  });

  it("writes text or bytes to the standard input and closes it", async () => {
    expect((await runCommand({ command: ["cat"], stdin: "grüße" })).stdout).to.equal("grüße");
    expect(
      (await runCommand({ command: ["cat"], stdin: new Uint8Array([104, 105]) })).stdout,
    ).to.equal("hi");
    expect((await runCommand({ command: ["cat"] })).stdout).to.equal("");
  });

  it("runs in the given folder", async () => {
    await writeFile(join(dir, "here.txt"), "");
    expect((await runCommand({ command: ["ls"], cwd: dir })).stdout).to.equal("here.txt\n");
  });

  describe("arguments", () => {
    const literal = [
      "$HOME", "$(id)", "`id`", "; echo hacked", "| cat", "&& echo hacked", "> /tmp/hacked", "*", "~", "a b", "'", '"', "\\", "\n", "!!", "%PATH%", "-rf", "--", "",
    ]; // prettier-ignore
    it("reach the program unchanged, without interpretation by a shell", async () => {
      const { stdout } = await runCommand({
        command: program("console.log(JSON.stringify(process.argv.slice(1)))", "--", ...literal),
      });
      expect(JSON.parse(stdout)).to.deep.equal(literal);
    });

    it("may be long, and are refused with a typed error if the system can't accept them", async () => {
      const { stdout } = await runCommand({
        command: program("console.log(process.argv[1].length)", "x".repeat(100_000)),
      });
      expect(stdout).to.equal("100000\n");
      const error = await rejectionOf(
        CommandError,
        runCommand({ command: ["echo", "x".repeat(3_000_000)] }),
      );
      expect(error.message).to.contain("too long");
    });
  });

  describe("environment", () => {
    const SECRET = "RUN_COMMAND_TEST_SECRET";
    beforeEach(() => setEnvironment({ [SECRET]: "hunter2" }));
    const environment = async (
      options: Partial<RunCommandOptions> = {},
    ): Promise<Readonly<Record<string, string>>> => {
      const { stdout } = await runCommand({
        command: program("console.log(JSON.stringify(process.env))"),
        ...options,
      });
      return JSON.parse(stdout) as Readonly<Record<string, string>>; // written by the line above
    };

    it("contains only listed variables", async () => {
      const names = Object.keys(await environment());
      const added = ["NODE_V8_COVERAGE"]; // Node itself passes it on while coverage is measured
      const isKnown = (name: string): boolean =>
        [...DEFAULT_ALLOWED_ENV, ...added].includes(name) ||
        name.startsWith("LC_") ||
        name.startsWith("__CF");
      expect(names.filter((name) => !isKnown(name))).to.deep.equal([]);
      expect(names).to.include("PATH");
    });

    it("inherits the names in the caller's list, also with a prefix `X*`, instead of the defaults", async () => {
      const env = await environment({ allowedEnv: ["RUN_COMMAND_TEST_*"] });
      expect(env[SECRET]).to.equal("hunter2");
      expect(env).to.not.have.property("HOME");
      expect(await environment({ allowedEnv: [] })).to.not.have.property("PATH");
    });

    it("inherits the absolute folders of PATH", async () => {
      const before = process.env["PATH"];
      setEnvironment({ PATH: ["bin", "", before, "."].join(delimiter) });
      expect(await environment({})).to.have.property("PATH", before);
      expect(await environment({ env: { PATH: `.${delimiter}${before}` } })).to.have.property(
        "PATH",
        `.${delimiter}${before}`,
      );
    });

    it("prefers added variables to inherited ones", async () => {
      expect(await environment({ env: { LANG: "xx", EXTRA: "a=b\nc" } })).to.include({
        LANG: "xx",
        EXTRA: "a=b\nc",
      });
    });
  });

  describe("output", () => {
    it("is kept up to the limit, each stream separately, while the program continues", async () => {
      const result = await runCommand({
        command: program('process.stdout.write("x".repeat(3_000_000)); console.error("end")'),
        maxOutputBytes: 1000,
      });
      expect(result).to.include({
        exitCode: 0,
        stdout: "x".repeat(1000),
        stderr: "end\n",
        truncated: true,
        stdoutTruncated: true,
        stderrTruncated: false,
      });
    });

    it("is not cut at exactly the limit, nor within a character", async () => {
      expect(await runCommand({ command: ["printf", "12345"], maxOutputBytes: 5 })).to.include({
        stdout: "12345",
        truncated: false,
      });
      expect(await runCommand({ command: ["printf", "1234ü"], maxOutputBytes: 5 })).to.include({
        stdout: "1234",
        truncated: true,
      });
    });

    it("may be binary: invalid UTF-8 becomes replacement characters", async () => {
      const { stdout } = await runCommand({ command: ["printf", "\\377\\000a"] });
      expect(stdout).to.equal("\ufffd\0a");
    });

    it("is read from both streams concurrently, in any amount", async () => {
      const source =
        'const b = "y".repeat(1_000_000); process.stderr.write(b); process.stdout.write(b);';
      const result = await runCommand({ command: program(source) });
      expect([result.stdout.length, result.stderr.length]).to.deep.equal([1_000_000, 1_000_000]);
    });

    it("without an end is cut at the time limit", async () => {
      expect(await runCommand({ command: ["yes"], timeoutMs: 300, maxOutputBytes: 4 })).to.include({
        stdout: "y\ny\n",
        timedOut: true,
        truncated: true,
      });
    });
  });

  it("succeeds if the program does not read its input", async () => {
    const big = "x".repeat(5_000_000);
    expect(await runCommand({ command: ["true"], stdin: big })).to.include({ exitCode: 0 });
    expect(await runCommand(shell("exec <&-; sleep 0.1; exit 4", { stdin: big }))).to.include({
      exitCode: 4,
    });
    expect(await runCommand({ command: ["sleep", "60"], stdin: big, timeoutMs: 200 })).to.include({
      timedOut: true,
    });
  });

  describe("a program that can't be started", () => {
    const cases: readonly (readonly [string, () => Partial<RunCommandOptions>, string])[] = [
      ["an unknown name", () => ({ command: ["no-such-program-here"] }), "no such program in PATH"],
      ["a missing file", () => ({ command: [join(dir, "missing")] }), "there is no such file"],
      [
        "a file that may not be executed",
        () => ({ command: [join(dir, "plain.sh")] }),
        "not an executable file",
      ],
      ["a folder", () => ({ command: [dir] }), "not an executable file"],
      ["a broken link", () => ({ command: [join(dir, "dangling")] }), "there is no such file"],
      [
        "a script whose interpreter is missing",
        () => ({ command: [join(dir, "script")] }),
        "ENOENT",
      ],
      [
        "a missing working directory",
        () => ({ command: ["true"], cwd: join(dir, "gone") }),
        "is not a directory",
      ],
      [
        "a working directory that is a file",
        () => ({ command: ["true"], cwd: join(dir, "plain.sh") }),
        "is not a directory",
      ],
      [
        "a name that only a relative folder of PATH contains",
        () => ({
          command: ["local"],
          cwd: dir,
          env: { PATH: `.${delimiter}${delimiter}/usr/bin` },
        }),
        "no such program",
      ],
    ];
    for (const [title, options, why] of cases) {
      it(`${title} is a CommandError`, async () => {
        await writeFile(join(dir, "plain.sh"), "#!/bin/sh\n");
        await writeFile(join(dir, "script"), "#!/no/such/interpreter\n", { mode: 0o755 });
        await writeFile(join(dir, "local"), "#!/bin/sh\necho hacked\n", { mode: 0o755 });
        await symlink(join(dir, "nowhere"), join(dir, "dangling"));
        const error = await rejectionOf(
          CommandError,
          runCommand({ command: ["true"], ...options() }),
        );
        expect(error.code).to.equal("AE_COMMAND");
        expect(error.message).to.contain(why);
        expect(process.listenerCount("exit")).to.equal(exitListeners);
      });
    }
    const exitListeners = process.listenerCount("exit");
  });

  it("runs a file of the working directory if it is written as a path", async () => {
    await mkdir(join(dir, "bin"));
    await writeFile(join(dir, "bin", "tool"), "#!/bin/sh\necho $1\n");
    await chmod(join(dir, "bin", "tool"), 0o755);
    expect((await runCommand({ command: ["./bin/tool", "x"], cwd: dir })).stdout).to.equal("x\n");
  });

  it("runs only exact names of `allow`", async () => {
    const allow = ["echo", "/bin/cat"];
    expect((await runCommand({ command: ["echo", "a"], allow })).stdout).to.equal("a\n");
    for (const file of ["cat", "./echo", "/bin/echo", "ECHO", "echo ", "__proto__", "sh"]) {
      expect(
        (await rejectionOf(AccessDeniedError, runCommand({ command: [file], allow }))).message,
      ).to.contain("Allowed: echo, /bin/cat");
    }
  });

  describe("sandbox", () => {
    it("is a command that starts the command", async () => {
      const { stdout } = await runCommand({
        command: ["sh", "-c", "echo $WRAPPED $0", "a b"],
        sandbox: ["env", "WRAPPED=yes"],
      });
      expect(stdout).to.equal("yes a b\n");
    });

    it("fails the call if it is missing, and the command does not run", async () => {
      const error = await rejectionOf(
        ToolConfigurationError,
        runCommand({ command: ["touch", "ran"], cwd: dir, sandbox: ["no-such-sandbox"] }),
      );
      expect(error.hint).to.contain("Install no-such-sandbox");
      expect((await runCommand({ command: ["ls"], cwd: dir })).stdout).to.equal("");
    });
  });

  describe("the end of its process group", () => {
    interface Case {
      readonly title: string;
      readonly script: string;
    }
    const BACKGROUND: readonly Case[] = [
      { title: "a background process that keeps the pipes", script: "sleep 60 & echo $! > a.pid" },
      { title: "a program that has closed the pipes", script: "sleep 60 >/dev/null 2>&1 & echo $! > a.pid" },
      { title: "a program that ignores SIGHUP", script: "nohup sleep 60 >/dev/null 2>&1 & echo $! > a.pid" },
      { title: "a program that ignores SIGTERM", script: `sh -c 'trap "" TERM; echo $$ > a.pid; while :; do sleep 0.05; done' & ${WRITTEN}` },
      { title: "a program that has stopped itself", script: `sh -c 'echo $$ > a.pid; kill -STOP $$; sleep 60' & ${WRITTEN}` },
      { title: "a pipeline", script: "sleep 60 | sleep 61 & echo $! > a.pid" },
      { title: "a program that starts another one at its end", script: `sh -c 'trap "sleep 60 & echo \\$! > b.pid; sleep 60" TERM; echo $$ > a.pid; sleep 59 & wait' & ${WRITTEN}` },
    ]; // prettier-ignore
    const allEnded = async (): Promise<void> => {
      const pids = await writtenPids(dir);
      expect(pids.length).to.be.greaterThan(0);
      for (const pid of pids) expect(await isRunning(pid), `process ${pid}`).to.equal(false);
    };

    for (const example of BACKGROUND) {
      it(`${example.title}: when the program ends`, async () => {
        expect(
          await runCommand(shell(`${example.script}; echo done`, { cwd: dir, killGraceMs: 100 })),
        ).to.include({
          exitCode: 0,
          stdout: "done\n",
          timedOut: false,
        });
        await allEnded();
      });
    }

    const STAYING: readonly Case[] = [
      ...BACKGROUND.slice(3, 5).map(({ title, script }) => ({
        title,
        script: `${script}; sleep 60`,
      })),
      {
        title: "a program that ignores SIGTERM",
        script: "trap '' TERM; echo $$ > a.pid; while :; do sleep 0.05; done",
      },
      {
        title: "a program that has closed its outputs",
        script: "exec >&- 2>&-; echo $$ > a.pid; sleep 60",
      },
      {
        title: "children of children",
        script: `sh -c 'sh -c "sleep 60 & echo \\$! > a.pid; wait" & wait' & wait`,
      },
    ];
    for (const example of STAYING) {
      it(`${example.title}: at the time limit`, async () => {
        expect(
          await runCommand(shell(example.script, { cwd: dir, timeoutMs: 700, killGraceMs: 50 })),
        ).to.include({ timedOut: true });
        await allEnded();
      });

      it(`${example.title}: on abort`, async () => {
        const controller = new AbortController();
        const work = runCommand(
          shell(example.script, { cwd: dir, signal: controller.signal, killGraceMs: 60_000 }),
        );
        await untilWritten(dir);
        controller.abort(new Error("enough"));
        expect((await rejectionOf(RunCancelledError, work)).cause).to.have.property(
          "message",
          "enough",
        );
        await allEnded();
      });
    }

    it("allows programs some time to exit", async () => {
      const script = "trap 'echo cleaned; exit 7' TERM; sleep 60 & echo $$ > a.pid; wait";
      expect(
        await runCommand(shell(script, { cwd: dir, timeoutMs: 500, killGraceMs: 5000 })),
      ).to.include({ stdout: "cleaned\n", exitCode: 7, timedOut: true });
    });

    it("does not wait for the grace period if an abort occurs during it", async () => {
      const controller = new AbortController();
      const script = "trap 'echo $$ > a.pid' TERM; while :; do sleep 0.05; done";
      const work = runCommand(
        shell(script, {
          cwd: dir,
          timeoutMs: 300,
          killGraceMs: 600_000,
          signal: controller.signal,
        }),
      );
      await untilWritten(dir);
      controller.abort();
      await rejectionOf(RunCancelledError, work);
      await allEnded();
    });

    it("does not reach a process that has left the group", async function () {
      if (process.platform !== "linux") this.skip();
      const script = `setsid sh -c 'echo $$ > a.pid; exec sleep 60' & ${WRITTEN}; echo done`;
      expect(await runCommand(shell(script, { cwd: dir }))).to.include({
        exitCode: 0,
        stdout: "done\n",
      });
      const [pid = 0] = await writtenPids(dir);
      expect(await isRunning(pid)).to.equal(true);
      process.kill(pid, "SIGKILL");
    });

    it("does not count an ended process whose parent does not wait for it", async function () {
      if (process.platform !== "linux") this.skip();
      const parent = "exec setsid sh -c 'echo $$ > a.pid; exec sleep 60' >/dev/null 2>&1";
      const script = `(sleep 0.01 & ${parent}) & ${WRITTEN}; sleep 0.2`;
      const { leftRunning } = await runCommand(shell(script, { cwd: dir }));
      const [pid = 0] = await writtenPids(dir);
      process.kill(pid, "SIGKILL");
      expect(leftRunning).to.deep.equal([]);
    });

    it("does not affect processes of others", async () => {
      const other = runCommand(shell("echo $$ > a.pid; sleep 1; echo still here", { cwd: dir }));
      await untilWritten(dir);
      await Promise.all(
        Array.from({ length: 5 }, () =>
          runCommand({ command: ["sleep", "60"], timeoutMs: 50, killGraceMs: 0 }),
        ),
      );
      expect(await other).to.include({ exitCode: 0, stdout: "still here\n" });
    });

    for (const [title, ending, exitCode] of [
      ["process.exit()", "process.exit(5)", 5],
      ["an uncaught error", "throw new Error('uncaught')", 1],
    ] as const) {
      it(`also follows ${title} of this process`, async () => {
        const module = fileURLToPath(
          new URL("../../../../src/plugins/tools/process/index.js", import.meta.url),
        );
        const source = `
          const { existsSync } = await import("node:fs");
          const { runCommand } = await import(${JSON.stringify(module)});
          void runCommand({ command: ["sh", "-c", "sh -c 'echo $$ > a.pid; sleep 60' & echo $$ > b.pid; wait"] });
          setInterval(() => { if (existsSync("a.pid") && existsSync("b.pid")) { ${ending}; } }, 20);`;
        // Not with runCommand, which would end them.
        const code = await new Promise((resolve) =>
          spawn(process.execPath, ["--input-type=module", "-e", source], {
            cwd: dir,
            stdio: "ignore",
          }).once("exit", resolve),
        );
        expect(code).to.equal(exitCode);
        // SIGKILL is sent, not waited for.
        await until(async () => {
          const running = await Promise.all((await writtenPids(dir)).map(isRunning));
          return running.length > 0 && running.every((is) => !is);
        });
      });
    }
  });

  describe("its signal", () => {
    it("prevents the start of the command if it aborted before", async () => {
      const error = await rejectionOf(
        RunCancelledError,
        runCommand({ command: ["touch", "ran"], cwd: dir, signal: AbortSignal.abort() }),
      );
      expect(error.code).to.equal("AE_RUN_CANCELLED");
      expect((await runCommand({ command: ["ls"], cwd: dir })).stdout).to.equal("");
    });

    it("rejects with its reason if that is an error of the framework", async () => {
      const reason = new TaskTimeoutError("Task", 5);
      expect(
        await rejectionOf(
          TaskTimeoutError,
          runCommand({ command: ["true"], signal: AbortSignal.abort(reason) }),
        ),
      ).to.equal(reason);
    });

    it("is released, as are all listeners", async () => {
      const { signal } = new AbortController();
      setMaxListeners(0, signal);
      const before = process.listenerCount("exit");
      const warnings: Error[] = [];
      const onWarning = (warning: Error): number => warnings.push(warning);
      process.on("warning", onWarning);
      const work = Array.from({ length: 15 }, () =>
        runCommand({ command: ["sleep", "0.1"], signal }),
      );
      await pause(50);
      expect(process.listenerCount("exit")).to.be.at.most(before + 1);
      await Promise.all(work);
      await pause(1);
      process.removeListener("warning", onWarning);
      expect([
        process.listenerCount("exit"),
        getEventListeners(signal, "abort").length,
      ]).to.deep.equal([before, 0]);
      expect(warnings.filter(({ message }) => message.includes("exit listeners"))).to.deep.equal(
        [],
      );
    });
  });

  describe("refuses", () => {
    const wrong: readonly (readonly [string, unknown])[] = [
      ["no options", undefined],
      ["no command", {}],
      ["an empty command", { command: [] }],
      ["a command line", { command: "ls -l" }],
      ["an argument that is not a text", { command: ["ls", 1] }],
      ["a NUL character in an argument", { command: ["ls", "a\0b"] }],
      ["a blank program", { command: [" "] }],
      ["a time limit of 0", { command: ["ls"], timeoutMs: 0 }],
      ["an endless time limit", { command: ["ls"], timeoutMs: Infinity }],
      ["a negative grace", { command: ["ls"], killGraceMs: -1 }],
      ["an output limit of 0", { command: ["ls"], maxOutputBytes: 0 }],
      ["a variable whose value is not a text", { command: ["ls"], env: { A: 1 } }],
      ["a variable with = in its name", { command: ["ls"], env: { "A=B": "1" } }],
      ["an invalid list of variables", { command: ["ls"], allowedEnv: "PATH" }],
      ["an empty sandbox", { command: ["ls"], sandbox: [] }],
      ["a blank folder", { command: ["ls"], cwd: "" }],
      ["a NUL character in the folder", { command: ["ls"], cwd: "/\0" }],
      ["input that is neither text nor bytes", { command: ["ls"], stdin: {} }],
      ["an invalid signal", { command: ["ls"], signal: {} }],
      ["an unknown option", { command: ["ls"], timeout: 5 }],
      ["a request for a shell", { command: ["ls"], shell: true }],
    ];
    for (const [title, options] of wrong) {
      it(title, async () => {
        await rejectionOf(ValidationError, runCommand(options as RunCommandOptions)); // on purpose
      });
    }

    it("a secret in the environment without showing it", async () => {
      const error = await rejectionOf(
        ValidationError,
        runCommand({ command: ["ls"], env: { TOKEN: "hunter2\0" } }),
      );
      expect(error.message).to.not.contain("hunter2");
    });
  });
});
