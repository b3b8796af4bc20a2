import { globToRegex } from "./glob-pattern.js";
import { messageOf } from "../../../util/errors.js";

/** Tests whether a path, relative to the folder, matches. */
export interface PathTest {
  test(path: string): boolean;
  /** Cost per character of the path, in steps of a WorkLimit. */
  readonly cost: number;
}

/** A compiled glob, or the reason why it is invalid. */
export type CompiledGlob =
  | { readonly ok: true; readonly paths: PathTest }
  | { readonly ok: false; readonly problem: string };

const LONGEST_GLOB = 1_000;

/** Compiles a glob. RE2 matches in time linear in the path, for any number of `**`. */
export async function compileGlob(glob: string): Promise<CompiledGlob> {
  if (glob.length > LONGEST_GLOB)
    return { ok: false, problem: `it is longer than ${LONGEST_GLOB} characters` };
  const { RE2JS } = await import("re2js");
  try {
    const regex = RE2JS.compile(globToRegex(glob, { braces: true }));
    return { ok: true, paths: { test: (path) => regex.test(path), cost: regex.programSize() } };
  } catch (e) {
    return { ok: false, problem: messageOf(e) };
  }
}
