import type { Remote, SharedCapability, WorkRequest } from "../../../contracts/network.js";
import type { TaskScope } from "../../../contracts/run.js";
import type { AnyTool, DynamicToolProvider } from "../../../contracts/tool.js";
import type { NetworkCallOptions } from "./call-options.js";
import { NetworkTokens } from "../../../contracts/network.js";
import { ToolConfigurationError, ValidationError } from "../../../contracts/errors.js";
import { TOOL_NAME, tool } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { preview, requireText } from "../../../contracts/validation.js";
import { messageOf } from "../../../util/errors.js";
import { checkToolCallOptions } from "./call-options.js";
import { defaultTimeoutMs, ensembleOf, targetOf } from "./call-target.js";
import { networkCallTool } from "./call-tool.js";
import { DIRECTORY, isRemote } from "./directory.js";

/**
 * A tool that sends requests to another ensemble. In `tools` it reads the description and the input
 * schema from the ensemble at the start of each task.
 */
export interface NetworkToolProvider extends DynamicToolProvider {
  /** The name for the model: `{ensemble}__{name}`. */
  readonly name: string;
}

/** A tool for tests that sends no request. */
export type RecordingTool = AnyTool & {
  /** The inputs of the calls, oldest first. */
  readonly calls: readonly unknown[];
};

type Kind = "TASK" | "TOOL";

/** @throws ValidationError for an invalid ensemble, name or option. */
export function networkToolFrom(
  kind: Kind,
  place: string | Remote,
  name: string,
  options: NetworkCallOptions = {},
): NetworkToolProvider {
  const what = kind === "TASK" ? "NetworkTask.from()" : "NetworkTool.from()";
  if (typeof place !== "string" && !isRemote(place))
    throw new ValidationError(
      `${what} ensemble must be a name or a Remote, got: ${preview(place)}`,
    );
  const toolName = checkedName(what, ensembleOf(place), name);
  checkToolCallOptions(what, options, defaultTimeoutMs(kind));
  return Object.freeze({
    name: toolName,
    async resolve(scope?: TaskScope): Promise<readonly AnyTool[]> {
      const target = targetOf(place, kind, requiredScope(scope));
      const shared = await wantedCapability(target.remote, { kind, name, options, scope });
      return [networkCallTool(target, shared, options)];
    },
  });
}

function checkedName(what: string, ensemble: string, name: string): string {
  requireText(ensemble, `${what} ensemble must not be blank, got: ${preview(ensemble)}`);
  requireText(name, `${what} name must not be blank, got: ${preview(name)}`);
  const toolName = `${ensemble}__${name}`;
  if (TOOL_NAME.test(toolName)) return toolName;
  throw new ValidationError(
    `${what} creates the tool name '${preview(toolName)}', which must be 1 to 64 letters, digits, '_' and '-'`,
    { hint: "Share it under a shorter name." },
  );
}

function requiredScope(scope: TaskScope | undefined): TaskScope {
  if (scope !== undefined) return scope;
  throw new ToolConfigurationError("Tools of other ensembles can be resolved in a task only");
}

interface Wanted {
  readonly kind: Kind;
  readonly name: string;
  readonly options: NetworkCallOptions;
  readonly scope: TaskScope | undefined;
}

/**
 * Returns the shared task or tool with this name, or a general description if the ensemble can't be
 * reached.
 */
async function wantedCapability(
  remote: Remote,
  { kind, name, options: { version }, scope }: Wanted,
): Promise<SharedCapability> {
  const isWanted = (shared: SharedCapability): boolean =>
    shared.name === name &&
    (shared.type === "TOOL") === (kind === "TOOL") &&
    (version === undefined || shared.version === version);
  try {
    const found = (await remote.capabilities()).find(isWanted);
    if (found !== undefined) return found;
  } catch (error) {
    scope?.emit({
      type: "run_warning",
      message: `The description of '${name}' is not known, since its ensemble can't be asked: ${messageOf(error)}`,
    });
  }
  const type: WorkRequest["type"] = kind;
  return { name, type, description: `Has '${name}' done by another ensemble` };
}

/** @throws ToolConfigurationError in a run without the plugin `network`. */
export function discoveredTools(
  isWanted: (shared: SharedCapability) => boolean,
): DynamicToolProvider {
  return Object.freeze({
    async resolve(scope?: TaskScope): Promise<readonly AnyTool[]> {
      const task = requiredScope(scope);
      const directory = task.find(DIRECTORY);
      if (directory === undefined)
        throw new ToolConfigurationError("NetworkTools need the plugin network()", {
          hint: "Add network({ name, backend }) to the plugins.",
        });
      const all = await directory.shared(task.find(NetworkTokens.NetworkBackend));
      const names = new Set<string>();
      return all
        .filter(({ capability }) => isWanted(capability))
        .filter(({ ensemble, capability: { name } }) => isNewName(names, `${ensemble}__${name}`))
        .map(({ ensemble, capability }) =>
          networkCallTool(targetOf(ensemble, capability.type, task), capability, {}),
        );
    },
  });
}

/** Returns whether a name is new. Only one of several versions is offered. */
function isNewName(names: Set<string>, name: string): boolean {
  if (names.has(name)) return false;
  names.add(name);
  return true;
}

/** @throws ValidationError for an invalid name. */
export function recordingTool(
  kind: Kind,
  ensemble: string,
  name: string,
  response: string,
): RecordingTool {
  const what = kind === "TASK" ? "NetworkTask" : "NetworkTool";
  const calls: unknown[] = [];
  const made = tool<unknown>({
    name: checkedName(`${what}.recording()`, ensemble, name),
    description: `Has '${name}' done by ensemble '${ensemble}'`,
    input: { type: "object" },
    delegates: true,
    execute: (input: unknown) => {
      calls.push(input);
      return ToolResult.success(response, { status: "COMPLETED" });
    },
  });
  return Object.freeze({ ...made, calls });
}
