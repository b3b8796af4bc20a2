import { join } from "node:path";
import { projectRoot } from "../../../support/project.js";
import { TRACED, traceOf } from "./teams.js";

export { TRACED };

/** The file of a team's trace. */
export function goldenPath(name: string): string {
  return join(projectRoot, "test/fixtures/golden", `${name}.trace.json`);
}

/**
 * The trace of a team without machine-dependent values: only the first line of a stack trace
 * remains. The clock of the teams is fixed.
 */
export async function goldenOf(name: string): Promise<string> {
  const document: unknown = JSON.parse((await traceOf(name)).toJson(), (key, value: unknown) =>
    key === "stackTrace" && typeof value === "string" ? value.split("\n", 1)[0] : value,
  );
  return `${JSON.stringify(document, null, 2)}\n`;
}
