import type * as ServerSdk from "@modelcontextprotocol/server";
import type * as StdioSdk from "@modelcontextprotocol/server/stdio";
import type * as ValidatorSdk from "@modelcontextprotocol/server/validators/cf-worker";
import { ValidationError } from "../../../contracts/errors.js";
import { importOptional } from "../../../util/import-optional.js";
import { messageOf } from "../../../util/errors.js";

/** The parts of the MCP SDK that are used. */
export type Sdk = typeof ServerSdk &
  Pick<typeof StdioSdk, "serveStdio" | "StdioServerTransport"> &
  Pick<typeof ValidatorSdk, "CfWorkerJsonSchemaValidator">;

/**
 * Loads the optional package.
 * @throws ValidationError if it is missing
 */
export async function loadSdk(): Promise<Sdk> {
  try {
    const [server, { serveStdio, StdioServerTransport }, { CfWorkerJsonSchemaValidator }] =
      await Promise.all([
        importOptional<typeof ServerSdk>("@modelcontextprotocol/server"),
        importOptional<typeof StdioSdk>("@modelcontextprotocol/server/stdio"),
        // A validator without code generation, which the SDK's default validator needs.
        importOptional<typeof ValidatorSdk>("@modelcontextprotocol/server/validators/cf-worker"),
      ]);
    return { ...server, serveStdio, StdioServerTransport, CfWorkerJsonSchemaValidator };
  } catch (cause) {
    throw new ValidationError(
      `An MCP server needs the package @modelcontextprotocol/server, which could not be loaded: ${messageOf(cause)}`,
      {
        cause,
        hint: "Run: npm install @modelcontextprotocol/server",
      },
    );
  }
}
