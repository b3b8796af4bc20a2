/** Returns the steps of a JSON Pointer: `/a~1b/0` leads to `a/b`, then to `0`. */
export function pointerSteps(pointer: string): string[] {
  const steps = pointer.split("/").slice(1);
  return steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}
