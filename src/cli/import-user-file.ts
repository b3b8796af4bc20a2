import { existsSync, readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { AgentEnsembleError, ValidationError } from "../contracts/errors.js";
import { nearestName, preview } from "../contracts/validation.js";
import { messageOf } from "../util/errors.js";

const JAVASCRIPT = [".js", ".mjs", ".cjs"];
const TYPESCRIPT = [".ts", ".mts", ".cts"];

/** Whether this version of Node.js strips types (22.18 and later). */
function nodeLoadsTypeScript(): boolean {
  // Newer than the types of Node 20.
  return Boolean((process.features as { readonly typescript?: unknown }).typescript);
}

/**
 * Returns the name in a folder that is most similar to `name`.
 * @throws ValidationError if the folder exists and can't be read.
 */
function similarFile(folder: string, name: string, given: string): string | undefined {
  try {
    return nearestName(name, readdirSync(folder));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new ValidationError(`Can't read ${preview(given)}`, {
      cause,
      hint: `Give this process access to the folder ${folder}.`,
    });
  }
}

/** Checks that `path` is a file that may contain an ensemble. @throws ValidationError */
function checkUserFile(path: string, given: string): void {
  if (!existsSync(path)) {
    const folder = dirname(path);
    const near = similarFile(folder, basename(path), given);
    throw new ValidationError(`There is no file ${preview(given)}`, {
      hint:
        near === undefined
          ? `The full path is ${path}.`
          : `Did you mean '${near}'? The folder is ${folder}.`,
    });
  }
  if (!statSync(path).isFile())
    throw new ValidationError(`${preview(given)} is not a file`, {
      hint: "Name the file that default-exports the ensemble.",
    });
  if ([...JAVASCRIPT, ...TYPESCRIPT].includes(extname(path))) return;
  throw new ValidationError(`${preview(given)} is neither JavaScript nor TypeScript`, {
    hint: `The name of the file must end with one of ${[...JAVASCRIPT, ...TYPESCRIPT].join(", ")}.`,
  });
}

/**
 * Prepares the process to load TypeScript: with tsx if the project has it, otherwise with Node.js.
 * @throws ValidationError if neither can load it.
 */
async function prepareTypeScript(path: string, given: string): Promise<void> {
  let tsx: string;
  try {
    tsx = createRequire(path)
      .resolve("tsx/esm/api")
      .replace(/\.cjs$/, ".mjs"); // the file for import() is next to the file for require()
  } catch {
    if (nodeLoadsTypeScript()) return;
    throw new ValidationError(
      `Node.js ${process.versions.node} can't load TypeScript, and tsx is not installed: ${preview(given)}`,
      {
        hint: "Run: npm install --save-dev tsx (or compile the file and name the JavaScript, or use Node.js 22.18 or later).",
      },
    );
  }
  // The documented interface of tsx.
  const { register } = (await import(pathToFileURL(tsx).href)) as { register(): unknown };
  register();
}

function hintFor(error: unknown, path: string): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const missing = /Cannot find (?:package|module) '([^']+)'/.exec(messageOf(error))?.[1];
  if (
    (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") &&
    missing !== undefined &&
    !/^(\.|\/|[a-z]:|file:)/i.test(missing)
  ) {
    const name = missing.split("/").slice(0, missing.startsWith("@") ? 2 : 1);
    return `Run: npm install ${name.join("/")} (in ${dirname(path)})`;
  }
  if (error instanceof SyntaxError) return `To see the position, run: node ${path}`;
  return "The file itself failed; --verbose shows where.";
}

/**
 * Returns the exports of a file of the user.
 * @throws ValidationError for a file that is missing or can't be loaded; errors of the framework
 * unchanged.
 */
export async function importUserFile(given: string): Promise<Readonly<Record<string, unknown>>> {
  const path = resolve(given);
  checkUserFile(path, given);
  if (TYPESCRIPT.includes(extname(path))) await prepareTypeScript(path, given);
  try {
    // The result is the namespace of a module.
    return (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    // The error of the ensemble is more specific.
    if (AgentEnsembleError.isInstance(cause)) throw cause;
    throw new ValidationError(`Can't load ${preview(given)}`, {
      cause,
      hint: hintFor(cause, path),
    });
  }
}
