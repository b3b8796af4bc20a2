/**
 * Returns a number in the form of outputs: `=17;`. An answer can thus be computed only from the
 * prompt.
 */
export function written(value: number): string {
  return `=${value};`;
}

/** Returns the sum of all numbers in a text. Returns `undefined` if there are none. */
export function sumIn(text: string): number | undefined {
  let sum: number | undefined;
  for (let at = text.indexOf("="); at >= 0; at = text.indexOf("=", at + 1)) {
    const end = text.indexOf(";", at);
    sum = (sum ?? 0) + Number(text.slice(at + 1, end));
  }
  return sum;
}
