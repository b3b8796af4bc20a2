import { open, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Claim, Journal } from "agentensemble";
import { spawnSync } from "node:child_process";
import { openFileJournal } from "../../../../src/plugins/durability/shared/file/file-journal.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";

/** The id of a process that has ended. */
function endedPid(): number {
  return spawnSync(process.execPath, ["-e", ""]).pid;
}

/**
 * Changes the claims in a file to those of another machine, in place, since the holder continues to
 * write.
 */
async function moveClaim(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    const text = await readFile(path, "latin1");
    for (const { index } of text.matchAll(/(?<="line":"claim".*"space":")/g))
      await file.write("X", index, "latin1");
  } finally {
    await file.close();
  }
}

/** A folder with runs, and the journals that were opened on it. */
export class JournalFolder {
  readonly path = join(temporaryFolder(), "runs");
  readonly #journals: Journal[] = [];
  static #dead: number | undefined;

  open(o?: { readonly roomyBytes?: number }): Journal {
    const journal = openFileJournal(this.path, o);
    this.#journals.push(journal);
    return journal;
  }

  /**
   * Changes the holder of a run's lock to a dead process of this machine, or to another machine.
   */
  async abandon(
    { runId }: Pick<Claim, "runId">,
    holder: "dead" | "elsewhere" = "dead",
  ): Promise<void> {
    for (const path of await this.files(".jsonl")) {
      const [head = ""] = (await readFile(path, "utf8")).split("\n", 1);
      if ((JSON.parse(head) as { run: { runId: string } }).run.runId !== runId) continue;
      const lock = JSON.parse(await readFile(`${path}.lock`, "utf8")) as Record<string, unknown>;
      JournalFolder.#dead ??= endedPid();
      const named =
        holder === "dead"
          ? { ...lock, pid: JournalFolder.#dead }
          : { ...lock, host: "elsewhere", boot: "another boot" };
      await writeFile(`${path}.lock`, JSON.stringify(named));
      if (holder === "elsewhere") await moveClaim(path);
    }
  }

  async files(extension: string, folder = this.path): Promise<readonly string[]> {
    return (await readdir(folder)).filter((name) => name.endsWith(extension)).map((name) => join(folder, name)); // prettier-ignore
  }

  async close(): Promise<void> {
    for (const journal of this.#journals.splice(0)) await journal.close();
  }
}

/** A folder for one test. */
export async function withFolder(body: (folder: JournalFolder) => Promise<void>): Promise<void> {
  const folder = new JournalFolder();
  try {
    await body(folder);
  } finally {
    await folder.close();
  }
}
