import { existsSync } from "node:fs";
import {
  cp,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  rmdir,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

/** The templates and their purposes. */
export const TEMPLATES: Readonly<Record<string, string>> = {
  minimal: "two agents, one after the other",
  research: "a research team that reads a folder in parallel",
  chat: "a chat in a web page, with tools and an approval",
  service: "a service with a queue, over HTTP",
  evaluation: "a team with a dataset, scorers, and a test that keeps the scores",
};

/** A new project. */
export interface NewProject {
  /** The name of a template. */
  readonly template: string;
  /** The folder of the project. It is created if it is missing. */
  readonly folder: string;
  /** The folder with the templates. */
  readonly templates: string;
  /** The version of agentensemble that the project depends on, in the form of npm. */
  readonly version: string;
}

/** A project could not be created. Nothing was written. `hint` names the next step. */
export class ProjectCreationError extends Error {
  constructor(
    message: string,
    readonly hint: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "ProjectCreationError";
  }
}

/** They end the process after the temporary folder is deleted. */
const SIGNALS = ["SIGINT", "SIGTERM"] as const;
/** Allowed contents of the folder of a new project: the contents of a new repository. */
const HARMLESS = new Set([".git", ".DS_Store"]);
/** Files in which `{{name}}` and `{{version}}` are replaced. */
const FILLED = ["package.json", "README.md"];

/** Derives a valid npm package name from the name of the folder. */
function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+|[._-]+$/g, "");
  return name === "" ? "my-team" : name.slice(0, 214);
}

async function checkIsEmpty(folder: string): Promise<void> {
  const entries = await readdir(folder).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return [];
    throw new ProjectCreationError(
      `${folder} is not a folder that can be read`,
      "Name another folder.",
      { cause },
    );
  });
  const found = entries.filter((name) => !HARMLESS.has(name));
  if (found.length === 0) return;
  const some = found.slice(0, 3).join(", ");
  throw new ProjectCreationError(
    `The folder ${folder} is not empty: it contains ${some}${found.length > 3 ? ", ..." : ""}`,
    "Name a new folder.",
  );
}

async function fillPlaceholders(
  folder: string,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  for (const file of FILLED) {
    const path = join(folder, file);
    const text = await readFile(path, "utf8");
    await writeFile(
      path,
      text.replaceAll(/\{\{(name|version)\}\}/g, (_, name: string) => values[name] ?? ""),
    );
  }
  // npm does not publish files with the name `.gitignore`.
  await rename(join(folder, "_gitignore"), join(folder, ".gitignore"));
}

/**
 * Writes a new project atomically. Returns its folder.
 * @throws ProjectCreationError for an unknown template, a folder that is not empty, and a folder
 * that can't be written.
 */
export async function createProject(project: NewProject): Promise<string> {
  const { template, templates, version } = project;
  if (!Object.hasOwn(TEMPLATES, template))
    throw new ProjectCreationError(
      `There is no template '${template}'`,
      `Templates: ${Object.keys(TEMPLATES).join(", ")}.`,
    );
  const folder = resolve(project.folder);
  await checkIsEmpty(folder);
  // A rename requires the same file system.
  const parent = existsSync(folder) ? folder : dirname(folder);
  let temporary: string | undefined;
  let firstCreated: string | undefined;
  let interruption: NodeJS.Signals | undefined;
  const interrupt = (signal: NodeJS.Signals): void => void (interruption ??= signal);
  for (const signal of SIGNALS) process.on(signal, interrupt);
  try {
    firstCreated = await mkdir(parent, { recursive: true });
    temporary = await mkdtemp(join(parent, ".agentensemble-"));
    const draft = join(temporary, "project");
    for (const part of ["base", template])
      await cp(join(templates, part), draft, { recursive: true });
    await fillPlaceholders(draft, { name: packageName(folder), version });
    if (interruption !== undefined) throw new Error(`interrupted by ${interruption}`);
    await moveInto(draft, folder);
    firstCreated = undefined; // is kept
  } catch (cause) {
    throw new ProjectCreationError(
      `The project can't be written to ${folder}: ${cause instanceof Error ? cause.message : String(cause)}`,
      "Name a folder that can be written.",
      { cause },
    );
  } finally {
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
    if (firstCreated !== undefined) await removeEmpty(parent, firstCreated);
    for (const signal of SIGNALS) process.off(signal, interrupt);
    if (interruption !== undefined) process.kill(process.pid, interruption); // ends the process
  }
  return folder;
}

/**
 * Moves the finished files into their folder, with one rename if the folder is new. Moves them back
 * if one of them can't be moved.
 */
async function moveInto(draft: string, folder: string): Promise<void> {
  if (!existsSync(folder)) return rename(draft, folder);
  const moved: string[] = [];
  try {
    for (const name of await readdir(draft)) {
      await rename(join(draft, name), join(folder, name));
      moved.push(name);
    }
  } catch (error) {
    for (const name of moved) await rename(join(folder, name), join(draft, name));
    throw error;
  }
}

/** Removes the empty folders from `last` up to `first`. Keeps a folder that has other files. */
async function removeEmpty(last: string, first: string): Promise<void> {
  for (let path = last; path.length >= first.length; path = dirname(path))
    await rmdir(path).catch(() => undefined);
}

/** Returns the lines with the next steps for a new project. */
export function stepsAfterCreation(folder: string, template: string): string {
  const here = resolve(folder) === process.cwd();
  return [
    `Created ${here ? "a project" : folder} from the template '${template}' (${TEMPLATES[template] ?? ""}).`,
    "Next:",
    ...(here ? [] : [`  cd ${folder}`]),
    "  npm install",
    "  npm test",
    "  npm start",
  ].join("\n");
}
