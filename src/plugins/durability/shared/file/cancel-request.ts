import { readFile, rm } from "node:fs/promises";
import { writeFileAtomically } from "../../../../util/files/atomic-write.js";
import { codeOf } from "../../../../util/objects.js";
import { parseJson } from "../../../../util/json/parse-json.js";

/**
 * Returns the path of a cancellation request. The request is a file next to that of the run, so
 * that any process can write it.
 */
const requestPath = (path: string): string => `${path}.cancel`;

export async function requestCancel(path: string, reason: string): Promise<void> {
  await writeFileAtomically(requestPath(path), [JSON.stringify(reason)]);
}

/** Returns the reason of the request. Returns `undefined` without a request. */
export async function readCancelReason(path: string): Promise<string | undefined> {
  try {
    const reason = parseJson(await readFile(requestPath(path), "utf8"));
    return typeof reason === "string" ? reason : "cancelled";
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

export async function withdrawCancel(path: string): Promise<void> {
  await rm(requestPath(path), { force: true });
}
