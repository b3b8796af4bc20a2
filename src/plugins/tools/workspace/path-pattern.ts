import { globToRegex } from "./glob-pattern.js";
import { messageOf } from "../../../util/errors.js";

/** Says whether a path, relative to the folder, is one that was asked for. */
export interface PathTest {
  test(path: string): boolean;
  /** What it costs per letter of the path, in steps of a WorkLimit. */
  readonly cost: number;
}

/** A glob that can be tried on paths, or what is wrong with it. */
export type CompiledGlob =
  | { readonly ok: true; readonly paths: PathTest }
  | { readonly ok: false; readonly problem: string };

const LONGEST_GLOB = 1_000;

/** Makes the test for a glob. RE2 keeps time in proportion to the path, however many `**` there are. */
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
