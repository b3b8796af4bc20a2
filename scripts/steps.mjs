// Runs commands one after the other, says how long each took, and ends the process at the first that fails or takes ten minutes.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const limitMs = 10 * 60_000;

/** Runs `steps`: pairs of a name and a command, which is a line for the shell or a list of program and arguments. */
export function runSteps(steps) {
  for (const [name, command] of steps) {
    const options = { cwd: root, stdio: "inherit", timeout: limitMs };
    console.log(`\n--- ${name}`);
    const started = performance.now();
    const { status, signal } =
      typeof command === "string"
        ? spawnSync(command, { ...options, shell: true })
        : spawnSync(command[0], command.slice(1), options);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(
      `--- ${name}: ${status === 0 ? "ok" : `FAILED (${signal ?? `exit code ${status}`})`} in ${seconds} s`,
    );
    if (status !== 0) process.exit(status ?? 1);
  }
}
