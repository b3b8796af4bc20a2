import { realpathSync, statSync } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { isMissing, JailErrors } from "./jail-errors.js";
import { canHoldFolders, JailFolder } from "./jail-folder.js";
import { isInside, locate, problemOfPath } from "./path-text.js";
import { codeOf } from "../../../util/objects.js";

/** A place in the jail: a path with all links resolved but the last. */
export interface JailPlace {
  /** Real path of the deepest existing folder on the path. */
  readonly folder: string;
  /** Folders on the path that do not exist yet. */
  readonly missing: readonly string[];
  /** The last name. Empty for the root. */
  readonly name: string;
  /** Path below the root, with `/` as separator. */
  readonly relativePath: string;
  /** The path as the caller gave it. */
  readonly shown: string;
}

function pathNames(path: string): string[] {
  return path.split(sep).filter((name) => name !== "");
}

/** The root folder of a jail. Decides which paths are inside, and opens the folders within. */
export class JailRoot {
  readonly path: string;
  readonly errors: JailErrors;
  readonly #given: string;
  readonly #hold: boolean;
  readonly #platform: NodeJS.Platform;

  /** @throws ValidationError if the folder does not exist */
  constructor(root: string, name: string, hold = canHoldFolders(), platform = process.platform) {
    this.#given = resolve(root);
    this.#hold = hold;
    this.#platform = platform;
    this.errors = new JailErrors(name);
    try {
      this.path = realpathSync.native(root);
      if (!statSync(this.path).isDirectory()) throw new Error("it is not a folder");
    } catch (cause) {
      throw new ValidationError(`baseDir must be an existing directory: ${preview(root)}`, {
        cause,
        hint: "Make the folder first, or give the path of one.",
      });
    }
  }

  /**
   * Resolves a path. Does not reveal whether an outside path exists.
   * @throws AccessDeniedError if the path is outside, or can't be resolved
   */
  async place(path: string): Promise<JailPlace> {
    if (typeof path !== "string") throw this.errors.denied("path is not a text");
    const problem = problemOfPath(path, this.#platform);
    if (problem !== undefined) throw this.errors.denied(problem);
    const target = locate(path, { given: this.#given, real: this.path }, this.#platform);
    if (target === undefined) throw this.errors.outside();
    if (target === this.path)
      return { folder: this.path, missing: [], name: "", relativePath: "", shown: path };
    const { real, missing } = await this.#deepest(dirname(target));
    if (!isInside(this.path, real)) throw this.errors.resolvesOutside();
    const name = basename(target);
    return {
      folder: real,
      missing,
      name,
      relativePath: this.relative(join(real, ...missing, name)),
      shown: path,
    };
  }

  /** Returns a real path below the root, with `/` as separator, as it is shown. */
  relative(path: string): string {
    return pathNames(relative(this.path, path)).join("/");
  }

  /**
   * Returns the real path of the deepest existing folder. A dangling link is treated as a link to
   * the outside, because its target is unknown.
   */
  async #deepest(
    path: string,
  ): Promise<{ readonly real: string; readonly missing: readonly string[] }> {
    const missing: string[] = [];
    for (let current = path; ; current = dirname(current)) {
      try {
        return { real: await realpath(current), missing };
      } catch (e) {
        if (!isMissing(e))
          throw codeOf(e) === "ELOOP"
            ? this.errors.resolvesOutside()
            : this.errors.denied("cannot resolve file path");
      }
      if (await isLink(current)) throw this.errors.resolvesOutside();
      // the root itself no longer exists
      if (current === this.path) throw this.errors.denied("cannot resolve file path");
      missing.unshift(basename(current));
    }
  }

  /**
   * Opens each folder of an existing path in turn, so no link can be inserted after the check. The
   * caller closes the result.
   */
  async folder(path: string, shown: string): Promise<JailFolder> {
    return this.descend(
      pathNames(relative(this.path, path)),
      await JailFolder.open(this.path, this.errors, this.#hold),
      (at, name) => at.enter(name, shown),
    );
  }

  /** Descends from a folder. Closes that folder and the intermediate ones. */
  async descend(
    names: readonly string[],
    from: JailFolder,
    step: (at: JailFolder, name: string) => Promise<JailFolder>,
  ): Promise<JailFolder> {
    let at = from;
    for (const name of names) {
      const last = at;
      try {
        at = await step(last, name);
      } finally {
        await last.close();
      }
    }
    return at;
  }

  /**
   * Opens the folder of a path. Follows links that stay inside the jail. The caller closes the
   * result.
   */
  async openFolder(
    path: string,
  ): Promise<{ readonly folder: JailFolder; readonly relativePath: string }> {
    const place = await this.place(path);
    if (place.missing.length > 0) throw this.errors.notADirectory(path);
    const { real, missing } = await this.#deepest(join(place.folder, place.name));
    if (!isInside(this.path, real)) throw this.errors.resolvesOutside();
    if (missing.length > 0) throw this.errors.notADirectory(path);
    return { folder: await this.folder(real, path), relativePath: this.relative(real) };
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch {
    return false; // missing or not accessible
  }
}
