import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../support/project.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** The end of a command and its output. */
export interface CommandEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command in progress. */
export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<CommandEnd>;
  /** Waits until standard error contains `text`. */
  said(text: string): Promise<void>;
}

const BINARY = join(projectRoot, "dist/bundle/cli/main.js");
/** Variables that would change the behaviour or the output of a command. */
const CLEARED = [
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_BASE_URL",
  "AGENTENSEMBLE_CAPTURE_MODE",
  "DEBUG",
  "NODE_OPTIONS",
  "NODE_V8_COVERAGE",
];

/** A user's project in a temporary folder, in which the package is installed. */
export class ProjectFolder {
  readonly path = temporaryFolder();

  constructor(files: Readonly<Record<string, string>> = {}) {
    this.install("agentensemble", projectRoot);
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.path, name), text);
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), "utf8");
  }

  /** Installs a folder as the package `name`. */
  install(name: string, folder: string): void {
    mkdirSync(join(this.path, "node_modules"), { recursive: true });
    rmSync(join(this.path, "node_modules", name), { recursive: true, force: true });
    symlinkSync(folder, join(this.path, "node_modules", name), "dir");
  }

  /** Starts the installed command, in the same way as npm links it. */
  start(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Started {
    const env: NodeJS.ProcessEnv = { ...process.env };
    for (const name of CLEARED) delete env[name];
    const child = spawn(BINARY, args, {
      cwd: this.path,
      env: { ...env, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const texts = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (texts.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (texts.stderr += text));
    const ended = new Promise<CommandEnd>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => resolve({ code, ...texts }));
    });
    const said = (text: string): Promise<void> =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (texts.stderr.includes(text)) resolve();
        };
        child.stderr.on("data", look);
        child.once("close", () =>
          reject(new Error(`the command ended without saying '${text}': ${texts.stderr}`)),
        );
        look();
      });
    return { child, ended, said };
  }

  run(
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<CommandEnd> {
    return this.start(args, environment).ended;
  }
}
