import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { RunStore } from "../../../contracts/run-store.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview, requireArray, requireText } from "../../../contracts/validation.js";
import { fileRuns } from "./file/file-runs.js";
import { joinedRuns } from "./joined-runs.js";
import { savedRuns } from "./saved/saved-runs.js";
import { sqlRuns } from "./sql/sql-runs.js";

const WHAT = "RunStore.readOnly";

/**
 * Returns the runs of several sources, read-only. Sources are trace files, diagrams, folders, and
 * the addresses `file:<folder>`, `pglite:<folder>` and `postgres://...`.
 * @throws ValidationError for a missing path, a file that is not JSON, and an invalid address.
 */
export function readOnlyRuns(places: readonly string[]): RunStore {
  requireArray(`${WHAT} places`, places);
  const files: string[] = [];
  const stores: RunStore[] = [];
  for (const place of places) {
    requireText(place, `A place of ${WHAT} must not be blank, got: ${preview(place)}`);
    const folder = /^file:(?:\/\/(?=\/))?(.+)$/s.exec(place)?.[1];
    if (folder !== undefined) stores.push(fileRuns(folder));
    else if (/^(?:pglite|postgres(?:ql)?):/.test(place)) stores.push(sqlRuns({ url: place }));
    else if (isFolder(place)) stores.push(fileRuns(place));
    else files.push(place);
  }
  const saved = files.length === 0 ? [] : [savedRuns(files)];
  return joinedRuns([...saved, ...stores]);
}

/** @throws ValidationError for a missing path, and for a file of another kind. */
function isFolder(path: string): boolean {
  const found = kindOfPath(path);
  if (found === "folder") return true;
  if (found === "file" && path.endsWith(".json")) return false;
  throw new ValidationError(
    found === undefined
      ? `There is no file or folder ${preview(path)}`
      : `${preview(path)} is neither a trace file nor a diagram`,
    {
      hint: "Name folders, *.trace.json and *.dag.json files, or an address such as postgres://...",
    },
  );
}

/** @returns `undefined` for a missing or inaccessible path. */
function kindOfPath(path: string): "file" | "folder" | "other" | undefined {
  try {
    const found = statSync(resolve(path));
    return found.isDirectory() ? "folder" : found.isFile() ? "file" : "other";
  } catch {
    return undefined; // reported by the caller
  }
}
