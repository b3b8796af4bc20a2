import type { Command } from "commander";
import type { CommandEnd } from "./command-parts.js";
import type { DevArguments } from "./dev-command.js";
import type { InitArguments } from "./init-command.js";
import type { OutputTerminal } from "./terminal.js";
import { common, example, FILE, withInputs } from "./command-parts.js";
import { TEMPLATES } from "./create/create-project.js";

/** Adds the commands that create a project and run it during development. */
export function addProjects(program: Command, terminal: OutputTerminal, done: CommandEnd): void {
  const templates = Object.entries(TEMPLATES).map(([name, purpose]) => `${name} (${purpose})`);
  common(program.command("init"))
    .description("create a project in a new or empty folder")
    .argument("[template]", templates.join(", "), "minimal")
    .argument("[folder]", "default: the current folder", ".")
    .option(
      "--use <version>",
      "version of agentensemble, or a tarball of the package (default: this version)",
    )
    .addHelpText(
      "after",
      example("agentensemble init research my-team", "agentensemble init service desk"),
    )
    .action(async (template: string, folder: string, o: InitArguments) => {
      const { initCommand } = await import("./init-command.js");
      done(await initCommand(template, folder, o, terminal));
    });
  withInputs(program.command("dev"))
    .description(
      "run an ensemble with the dashboard, and run it again after each change, until Ctrl-C",
    )
    .argument("<file>", FILE)
    .option("--model <provider:model>", "model of every task; overrides the models in the file")
    .option("--port <port>", "port of the dashboard, or 0 for a free port (default: 7329)")
    .option("--verbose", "show the stack traces of errors")
    .addHelpText("after", example("agentensemble dev team.ts --input topic=otters"))
    .action(async (file: string, o: DevArguments) => {
      const { devCommand } = await import("./dev-command.js");
      done(await devCommand(file, o, terminal));
    });
}
