import type { IsLast } from "../../../contracts/run.js";

/** Whether the run is done with a task, or a part, that ends this part of the plan where `ends` holds. */
export function lastIn(
  { last: part }: { readonly last?: IsLast | undefined },
  ends: IsLast,
): IsLast | undefined {
  if (part === undefined) return undefined; // nobody has said what comes after this part
  if (part === false || ends === false) return false;
  if (part === true) return ends;
  return ends === true ? part : (output) => ends(output) && part(output);
}
