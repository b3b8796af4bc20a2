import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import {
  createProject,
  stepsAfterCreation,
  ProjectCreationError,
  TEMPLATES,
} from "./create-project.js";

// The program of the package create-agentensemble: this file, bundled with its imports. The program
// has no dependencies.

const HELP = `Usage: npm create agentensemble [folder] [-- --template <name>]

Creates a project with agentensemble. The folder must be new or empty (default: the current one).

Options:
  --template <name>      ${Object.entries(TEMPLATES)
    .map(([name, purpose]) => `${name}: ${purpose}`)
    .join("\n                         ")}
                         (default: minimal)
  --use <version>        the version of agentensemble, or a tarball of the package (default: the version of this program)
  --help                 print this text
`;
const USAGE = 2;
const FAILED = 1;

function usageOf(cause: unknown): ProjectCreationError {
  return new ProjectCreationError(cause instanceof Error ? cause.message : String(cause), HELP);
}

function projectArguments(argv: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        template: { type: "string", default: "minimal" },
        use: { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
    if (positionals.length > 1) throw new Error(`Name one folder, got: ${positionals.join(", ")}`);
    return { ...values, folder: positionals[0] ?? "." };
  } catch (cause) {
    throw usageOf(cause);
  }
}

async function createFrom(argv: readonly string[]): Promise<void> {
  const { template, use, help, folder } = projectArguments(argv);
  if (help) {
    process.stdout.write(HELP);
    return;
  }
  const own = dirname(fileURLToPath(import.meta.url));
  const { version } = JSON.parse(readFileSync(join(own, "package.json"), "utf8")) as {
    readonly version: string;
  };
  const templates = join(own, "templates");
  await createProject({ template, folder, templates, version: use ?? `^${version}` });
  process.stdout.write(`${stepsAfterCreation(folder, template)}\n`);
}

try {
  await createFrom(process.argv.slice(2));
} catch (error) {
  const isUsage = error instanceof ProjectCreationError;
  process.stderr.write(
    isUsage ? `error: ${error.message}\n${error.hint}\n` : `error: ${String(error)}\n`,
  );
  process.exitCode = isUsage ? USAGE : FAILED;
}
