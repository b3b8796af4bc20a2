import { spawn, type ChildProcess } from "node:child_process";
import { projectRoot } from "../support/project.js";

/** The end of a program and its output. */
export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Variables that would select a real model or change the output. */
const CLEARED = [
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_BASE_URL",
  "AGENTENSEMBLE_MODEL",
  "DEBUG",
  "NODE_V8_COVERAGE",
];

/**
 * Runs a compiled program in the root of the project without a key. `environment` adds variables.
 */
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
