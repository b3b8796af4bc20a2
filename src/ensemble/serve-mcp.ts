import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { AnyTask } from "../contracts/task.js";
import type { Kernel as KernelOf } from "../kernel/kernel.js";
import type { McpServer, McpServingSettings, ServerPorts } from "../plugins/mcp/server/index.js";
import type { TaskRunner } from "../plugins/shared/offers/ports.js";
import { ValidationError } from "../contracts/errors.js";
import { checkOptions, requireArray } from "../contracts/validation.js";
import { ENSEMBLE_OPTIONS } from "./validation.js";
import { SHAPE_OPTIONS, derivedOptions } from "../contracts/derived-options.js";
import { Ensemble } from "./ensemble.js";
import { Kernel, internalsOf } from "../kernel/kernel.js";
import { createMcpServer, MCP_SERVING_SETTINGS } from "../plugins/mcp/server/index.js";
import { variablesOf } from "./service-ports.js";
import { standardPlugins } from "./standard-plugins.js";
import { inputFormOf } from "./typed-inputs.js";

const OWN: readonly string[] = MCP_SERVING_SETTINGS;
const TAKEN = ENSEMBLE_OPTIONS.filter(
  (name) => !(SHAPE_OPTIONS as readonly string[]).includes(name),
);

/**
 * Options of `mcpServer()`. Options of ensembles that do not concern tasks are also accepted. They
 * apply to the run of each call.
 */
export interface McpServingOptions
  extends McpServingSettings, Omit<EnsembleOptions, (typeof SHAPE_OPTIONS)[number]> {}

/**
 * Offers tools and tasks to MCP clients: editors, chat programs, other agents. Each call is a
 * separate run on one kernel, with all features of a run: hooks, guardrails, limits, events, trace.
 * Requires the package `@modelcontextprotocol/server`. Serving begins with `stdio()`, `http()` or
 * `serve()`.
 *
 * @example await using server = mcpServer({ model: "openai:gpt-5-mini", tasks: [new Task({ name:
 * "summarise", description: "Summarise {text}" })] }); await server.stdio();
 * @throws ValidationError for invalid options, and for tools that clients could not distinguish or
 * call.
 */
export function mcpServer(options: McpServingOptions): McpServer {
  checkOptions("mcpServer()", options, [...OWN, ...TAKEN]);
  const own = new Set(OWN);
  const split = (mine: boolean): object =>
    Object.fromEntries(Object.entries(options).filter(([name]) => own.has(name) === mine));
  // The fields of that interface, by their names.
  const { plugins, kernel: given, ...ensemble } = split(false) as EnsembleOptions;
  return createMcpServer(
    split(true),
    portsOf(ensemble, kernelFor(given, plugins), given === undefined),
  ); // also the fields of that interface
}

/** The kernel of all calls. @throws ValidationError */
function kernelFor(
  given: EnsembleOptions["kernel"],
  plugins: EnsembleOptions["plugins"],
): KernelOf {
  requireArray("mcpServer plugins", plugins);
  const kernel = given ?? new Kernel();
  const internals = internalsOf(kernel);
  if (internals.booted() && (plugins?.length ?? 0) > 0) {
    throw new ValidationError("mcpServer plugins come too late: the given kernel has booted", {
      hint: "Give the plugins to the kernel, before its first run.",
    });
  }
  for (const plugin of plugins ?? []) kernel.use(plugin);
  internals.addMissing(standardPlugins());
  return kernel as KernelOf; // internalsOf refuses anything else
}

function portsOf(options: EnsembleOptions, kernel: KernelOf, owned: boolean): ServerPorts {
  const filled = options.inputs ?? {};
  return {
    prepare: (tasks) => runnerOf(options, kernel, tasks),
    prepareTool: (task) => runnerOf({ ...options, inputType: undefined }, kernel, [task]),
    inputSchema: inputFormOf(options),
    variablesOf: (task) => variablesOf(task).filter((name) => !Object.hasOwn(filled, name)),
    boot: () => kernel.boot(),
    dispose: async () => {
      if (owned) await kernel.dispose();
    },
  };
}

function runnerOf(
  options: EnsembleOptions,
  kernel: KernelOf,
  tasks: readonly AnyTask[],
): TaskRunner {
  const ensemble = new Ensemble(derivedOptions(options, { kernel, tasks }));
  return ({ inputs, listener, ...run }) =>
    ensemble.run(inputs, { ...run, listeners: listener === undefined ? undefined : [listener] });
}
