// Runs commands and prints the time of each. A command that takes longer than its limit fails.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const MINUTE_MS = 60_000;

/**
 * Runs a command: a line for the shell, or a list of program and arguments. `limitMs: 0`: no limit.
 * Returns its name, exit code, a description of its end, and seconds.
 */
export function runStep(name, command, { env = process.env, limitMs = 10 * MINUTE_MS } = {}) {
  const options = { cwd: root, stdio: "inherit", timeout: limitMs, env };
  console.log(`\n--- ${name}`);
  const started = performance.now();
  const { status, signal } =
    typeof command === "string"
      ? spawnSync(command, { ...options, shell: true })
      : spawnSync(command[0], command.slice(1), options);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const end = status === 0 ? "ok" : `FAILED (${signal ?? `exit code ${status}`})`;
  console.log(`--- ${name}: ${end} in ${seconds} s`);
  return { name, status: status ?? 1, end, seconds };
}

/**
 * Runs `steps`, pairs of a name and a command. Ends the process if a step fails or takes half an
 * hour.
 */
export function runSteps(steps) {
  for (const [name, command] of steps) {
    const { status } = runStep(name, command, { limitMs: 30 * MINUTE_MS });
    if (status !== 0) process.exit(status);
  }
}

/**
 * Runs one command of `runAtOnce`. Resolves when it has ended and its complete output is printed.
 */
async function runInBackground([name, command], stop) {
  const started = performance.now();
  const child = spawn(command, { cwd: root, shell: true, detached: true });
  const kill = () => {
    try {
      process.kill(-child.pid, "SIGKILL"); // the shell and its child processes
    } catch {
      // It has ended.
    }
  };
  stop.addEventListener("abort", kill);
  const limit = setTimeout(kill, 10 * MINUTE_MS);
  const output = [];
  child.stdout.on("data", (data) => output.push(data));
  child.stderr.on("data", (data) => output.push(data));
  const [code, signal] = await once(child, "close");
  clearTimeout(limit);
  stop.removeEventListener("abort", kill);
  if (stop.aborted) return 0;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const end = code === 0 ? "ok" : `FAILED (${signal ?? `exit code ${code}`})`;
  process.stdout.write(
    `\n--- ${name}\n${Buffer.concat(output)}--- ${name}: ${end} in ${seconds} s\n`,
  );
  return code ?? 1;
}

/**
 * Runs `steps`, pairs of a name and a command for the shell, `atOnce` at a time. If a step fails or
 * takes ten minutes, ends all steps and the process.
 */
export async function runAtOnce(steps, atOnce) {
  const waiting = [...steps];
  const failure = new AbortController();
  const work = async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      const status = await runInBackground(step, failure.signal);
      if (status === 0) continue;
      waiting.length = 0;
      process.exitCode = status;
      failure.abort();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (failure.signal.aborted) process.exit();
}
