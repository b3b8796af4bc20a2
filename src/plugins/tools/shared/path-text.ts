import { isAbsolute, join, posix, relative, resolve, sep, win32 } from "node:path";

const LONGEST_PATH = 4_096;
const LONGEST_NAME_BYTES = 255;
/** Names that are devices in every folder on Windows, with or without an extension. */
const WINDOWS_DEVICE = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\..*)?$/i;

/**
 * Whether Windows changes the meaning of a name. It drops dots and spaces at the end, and reads the
 * part after a colon as a stream name.
 */
function isTreacherousOnWindows(name: string): boolean {
  return (
    (name !== "." && name !== ".." && /[. ]$/.test(name)) ||
    /[:*?"<>|]/.test(name) ||
    WINDOWS_DEVICE.test(name)
  );
}

/**
 * Returns the problem with the text of a path, without looking at the file system. Returns
 * `undefined` if there is none.
 */
export function problemOfPath(path: string, platform: NodeJS.Platform): string | undefined {
  if (path.length > LONGEST_PATH) return `path is longer than ${LONGEST_PATH} characters`;
  if (/[\u0000-\u001f\u007f]/.test(path)) return "path contains a control character";
  if (/\p{Surrogate}/u.test(path)) return "path is not well-formed text";
  const names = path.split(platform === "win32" ? /[\\/]/ : "/");
  if (names.some((name) => Buffer.byteLength(name) > LONGEST_NAME_BYTES))
    return `path contains a name of more than ${LONGEST_NAME_BYTES} bytes`;
  const drive = platform === "win32" && /^[a-z]:$/i.test(names[0] ?? "") ? 1 : 0;
  if (platform === "win32" && names.slice(drive).some(isTreacherousOnWindows))
    return "path contains a name that Windows reads differently";
  return undefined;
}

/** Whether `path` is `folder` or is below it. Both must be absolute and normalised. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/**
 * Whether a path such as `..\x` may be meant to leave the folder. Outside Windows a backslash is an
 * ordinary character.
 */
function leavesByBackslash(path: string): boolean {
  if (!path.includes("\\")) return false;
  const normal = win32.normalize(path);
  return (
    win32.isAbsolute(path) ||
    normal === ".." ||
    normal.startsWith("..\\") ||
    posix.normalize(path.replaceAll("\\", "/")).startsWith("..")
  );
}

/** Returns the part of `path` below `folder`. Ignores case on platforms whose file systems do. */
function below(folder: string, path: string, platform: NodeJS.Platform): string | undefined {
  if (isInside(folder, path)) return relative(folder, path);
  if (platform !== "darwin" || !isInside(folder.toLowerCase(), path.toLowerCase()))
    return undefined;
  return path.slice(folder.length).replace(/^\/+/, "");
}

/**
 * Resolves a path by its text alone, to an absolute path below the real root. Returns `undefined`
 * if it is outside. `given` is the root as the user wrote it. It may contain a symbolic link to the
 * real root.
 */
export function locate(
  path: string,
  root: { readonly given: string; readonly real: string },
  platform: NodeJS.Platform,
): string | undefined {
  if (platform !== "win32" && leavesByBackslash(path)) return undefined;
  const target = resolve(root.real, path);
  const way =
    below(root.real, target, platform) ??
    (isAbsolute(path) ? below(root.given, target, platform) : undefined);
  return way === undefined ? undefined : join(root.real, way);
}

/**
 * Whether one of the names is `.git` on any file system. Ignores case and invisible characters, and
 * recognises the short name.
 */
export function leadsIntoGit(relativePath: string): boolean {
  return relativePath
    .split("/")
    .some((name) => /^(?:\.git|git~\d+)$/i.test(name.replace(/\p{Cf}/gu, "")));
}
