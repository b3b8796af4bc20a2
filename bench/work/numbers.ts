/** Outputs carry their number as `=17;`, so that an answer can be computed from what the prompt holds, and only from that. */
export function written(value: number): string {
  return `=${value};`;
}

/** The sum of all numbers in a text; `undefined` where there is none. */
export function sumIn(text: string): number | undefined {
  let sum: number | undefined;
  for (let at = text.indexOf("="); at >= 0; at = text.indexOf("=", at + 1)) {
    const end = text.indexOf(";", at);
    sum = (sum ?? 0) + Number(text.slice(at + 1, end));
  }
  return sum;
}
