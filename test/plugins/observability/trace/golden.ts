import { join } from "node:path";
import { projectRoot } from "../../../support/project.js";
import { TRACED, traceOf } from "./teams.js";

export { TRACED };

/** Where the trace of a team is kept. */
export function goldenPath(name: string): string {
  return join(projectRoot, "test/fixtures/golden", `${name}.trace.json`);
}

/** The trace of a team without what depends on the machine: of a stack trace only its first line stays. The clock of the teams stands still. */
export async function goldenOf(name: string): Promise<string> {
  const document: unknown = JSON.parse((await traceOf(name)).toJson(), (key, value: unknown) =>
    key === "stackTrace" && typeof value === "string" ? value.split("\n", 1)[0] : value,
  );
  return `${JSON.stringify(document, null, 2)}\n`;
}
