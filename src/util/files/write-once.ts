import { link, open, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { codeOf } from "../objects.js";
import { DraftFile } from "./atomic-write.js";
import { syncFolder } from "./sync-folder.js";

/** Error codes of file systems without hard links. */
const NO_LINKS: ReadonlySet<unknown> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/**
 * Creates a file completely or not at all. Only the owner has access. If several processes create
 * the file, one succeeds. Returns false if the file exists. Creates missing folders.
 *
 * @throws errors of the file system.
 */
export async function writeFileOnce(path: string, text: string): Promise<boolean> {
  const target = resolve(path);
  const draft = await DraftFile.create(target);
  try {
    await draft.handle.writeFile(text, "utf8");
    await draft.handle.sync();
    await link(draft.path, target);
    await syncFolder(dirname(target));
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    if (NO_LINKS.has(codeOf(error))) return await writeExclusively(target, text);
    throw error;
  } finally {
    await draft.discard();
  }
}

/**
 * For file systems without hard links. A reader may receive a part of the text during the write.
 */
async function writeExclusively(path: string, text: string): Promise<boolean> {
  try {
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(text, "utf8");
      await file.sync();
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
  return true;
}
