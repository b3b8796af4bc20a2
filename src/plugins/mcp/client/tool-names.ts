import { ToolConfigurationError } from "../../../contracts/errors.js";

/** Limit of the model vendors. */
const LONGEST_NAME = 64;

/**
 * Returns a tool's name for models. It has only letters, digits, `_` and `-`, and at most 64
 * characters.
 */
export function toolName(prefix: string, remoteName: string): string {
  return `${prefix}${remoteName}`.replace(/[^a-zA-Z0-9_-]/gu, "_").slice(0, LONGEST_NAME);
}

/**
 * Maps the server's tool names to the names for models.
 * @throws ToolConfigurationError if two names would be equal
 */
export function toolNames(
  server: string,
  prefix: string,
  remoteNames: readonly string[],
): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  for (const remote of remoteNames) {
    const name = toolName(prefix, remote);
    const twin = owners.get(name);
    if (twin !== undefined) {
      throw new ToolConfigurationError(
        `The tools '${twin.slice(0, 200)}' and '${remote.slice(0, 200)}' of MCP server '${server}' would both be named '${name}'`,
        {
          hint: "Names are cut to 64 letters, digits, _ and -. Leave one of the two out with tools: [...], or take a shorter prefix.",
        },
      );
    }
    owners.set(name, remote);
  }
  return new Map([...owners].map(([name, remote]) => [remote, name]));
}
