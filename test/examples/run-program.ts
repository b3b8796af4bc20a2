import { spawn, type ChildProcess } from "node:child_process";
import { projectRoot } from "../support/project.js";

/** How a program ended and what it printed. */
export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What would lead a program to a real model, or change what it prints. */
const CLEARED = [
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_BASE_URL",
  "AGENTENSEMBLE_MODEL",
  "DEBUG",
  "NODE_V8_COVERAGE",
];

/** A compiled program of the project, run in its root and without a key; `environment` adds to what it sees. */
export function runProgram(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): { readonly child: ChildProcess; readonly finished: Promise<Finished> } {
  const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: "1", ...environment };
  for (const name of CLEARED) if (!(name in environment)) delete env[name];
  const child = spawn(process.execPath, args, {
    cwd: projectRoot,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const texts = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (texts.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (texts.stderr += text));
  const finished = new Promise<Finished>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, ...texts }));
  });
  return { child, finished };
}
