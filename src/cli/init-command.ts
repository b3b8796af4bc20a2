import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { OutputTerminal } from "./terminal.js";
import { ValidationError } from "../contracts/errors.js";
import {
  createProject,
  stepsAfterCreation,
  ProjectCreationError,
} from "./create/create-project.js";
import { ExitCode } from "./exit-codes.js";
import { ownPackage } from "./own-package.js";

/** The options of `agentensemble init`. */
export interface InitArguments {
  readonly use?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Returns the folder of the templates, a part of the package. */
function templatesFolder(folder = import.meta.dirname): string {
  const templates = join(folder, "create-agentensemble/templates");
  if (existsSync(templates)) return templates;
  if (dirname(folder) === folder)
    throw new ValidationError("The templates are missing from the package", {
      hint: "Install agentensemble again.",
    });
  return templatesFolder(dirname(folder));
}

/** `agentensemble init [template] [folder]`: creates a project. */
export async function initCommand(
  template: string,
  folder: string,
  { use, json = false }: InitArguments,
  terminal: OutputTerminal,
): Promise<number> {
  const version = use ?? `^${ownPackage().version}`;
  try {
    const path = await createProject({ template, folder, templates: templatesFolder(), version });
    if (json) await terminal.json({ folder: path, template });
    else await terminal.text(stepsAfterCreation(folder, template));
  } catch (cause) {
    if (!(cause instanceof ProjectCreationError)) throw cause;
    throw new ValidationError(cause.message, { cause, hint: cause.hint });
  }
  return ExitCode.OK;
}
