import type { IsLast } from "../../../contracts/run.js";

/** Whether the run ends with a task or part that ends this part of the plan if `ends` is true. */
export function lastIn(
  { last: part }: { readonly last?: IsLast | undefined },
  ends: IsLast,
): IsLast | undefined {
  if (part === undefined) return undefined; // the steps after this part are unknown
  if (part === false || ends === false) return false;
  if (part === true) return ends;
  return ends === true ? part : (output) => ends(output) && part(output);
}
