import { rename, unlink } from "node:fs/promises";
import type { JailFolder } from "./jail-folder.js";
import type { JailRoot, JailPlace } from "./jail-root.js";
import type { FileHandle } from "node:fs/promises";
import { isMissing } from "./jail-errors.js";
import { statFile, versionOf } from "./jail-reading.js";
import { codeOf } from "../../../util/objects.js";

/** Parameters of a write. */
export interface WriteRequest {
  readonly place: JailPlace;
  readonly bytes: Uint8Array;
  /** The version that the file must still have. */
  readonly expectedVersion: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Number of temporary names to try. A process that crashed leaves its temporary file behind. */
const STALE_NAMES = 100;
const NEW_FILE = 0o666;
const CHUNK = 1024 * 1024;

/** Writes files atomically. Concurrent writes never mix. */
export class JailWriter {
  readonly #root: JailRoot;
  #written = 0;
  /**
   * Serialises the last step of writes. Two concurrent writes could otherwise check the same
   * version and both replace it.
   */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(root: JailRoot) {
    this.#root = root;
  }

  /** @returns true if the file is new */
  async write(request: WriteRequest): Promise<boolean> {
    const { place } = request;
    if (place.name === "") throw this.#root.errors.notAFile(place.shown);
    try {
      const parent = await this.#root.folder(place.folder, place.shown);
      const folder = await this.#root.descend(place.missing, parent, (at, name) =>
        at.make(name, place.shown),
      );
      try {
        return await this.#writeIn(folder, request);
      } finally {
        await folder.close();
      }
    } catch (e) {
      if (request.signal?.aborted === true) throw request.signal.reason;
      throw isMissing(e)
        ? this.#root.errors.notADirectory(place.shown)
        : this.#root.errors.system("write", place.shown, e);
    }
  }

  async #writeIn(folder: JailFolder, request: WriteRequest): Promise<boolean> {
    const { place, bytes, signal } = request;
    const mode = await this.#modeAt(folder, place);
    const temporary = await this.#temporary(folder, mode ?? NEW_FILE);
    try {
      await fill(temporary.handle, bytes, mode, signal);
      await this.#inTurn(() => this.#replace(folder, temporary.name, request));
    } catch (e) {
      // the first failure is reported
      await unlink(folder.at(temporary.name)).catch(() => undefined);
      throw e;
    }
    return mode === undefined;
  }

  /** Returns the permissions of the existing file, if any. */
  async #modeAt(folder: JailFolder, { name, shown }: JailPlace): Promise<number | undefined> {
    try {
      return Number((await statFile(this.#root, folder, name, shown)).mode & 0o777n);
    } catch (e) {
      if (isMissing(e)) return undefined;
      throw e;
    }
  }

  async #temporary(
    folder: JailFolder,
    mode: number,
  ): Promise<{ readonly name: string; readonly handle: FileHandle }> {
    await folder.verify();
    for (let attempt = 1; ; attempt++) {
      const name = `.${process.pid}.${this.#written++}.agentensemble.tmp`;
      try {
        return { name, handle: await folder.createFile(name, mode) };
      } catch (e) {
        if (codeOf(e) !== "EEXIST" || attempt >= STALE_NAMES) throw e;
      }
    }
  }

  async #replace(
    folder: JailFolder,
    temporary: string,
    { place, expectedVersion, signal }: WriteRequest,
  ): Promise<void> {
    signal?.throwIfAborted();
    const version = await this.#versionAt(folder, place);
    if (expectedVersion !== undefined && version !== expectedVersion)
      throw this.#root.errors.changed(place.shown);
    await folder.verify();
    await rename(folder.at(temporary), folder.at(place.name));
  }

  async #versionAt(folder: JailFolder, { name, shown }: JailPlace): Promise<string> {
    try {
      return versionOf(await statFile(this.#root, folder, name, shown));
    } catch (e) {
      if (isMissing(e)) return "";
      throw e;
    }
  }

  #inTurn(step: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(step);
    this.#turn = turn.catch(() => undefined); // the caller of the write receives the error
    return turn;
  }
}

async function fill(
  handle: FileHandle,
  bytes: Uint8Array,
  mode: number | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    for (let start = 0; start < bytes.length; start += CHUNK) {
      signal?.throwIfAborted();
      await handle.writeFile(bytes.subarray(start, start + CHUNK));
    }
    // restores the bits that the process's umask removed
    if (mode !== undefined) await handle.chmod(mode);
    await handle.sync(); // otherwise a power failure after the rename could leave an empty file
  } finally {
    await handle.close();
  }
}
