// Runs commands one after the other and prints the time of each. A command that takes longer than its limit fails.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const MINUTE_MS = 60_000;

/** Runs a command: a line for the shell, or a list of program and arguments. Returns its name, exit code, end in words and seconds. */
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

/** Runs `steps`, pairs of a name and a command, and ends the process at the first that fails or takes ten minutes. */
export function runSteps(steps) {
  for (const [name, command] of steps) {
    const { status } = runStep(name, command);
    if (status !== 0) process.exit(status);
  }
}
