/** The values of one field: all of them, or those that are not the usual one with their places. */
export type Column =
  readonly unknown[] | { readonly at: readonly number[]; readonly of: readonly unknown[] };

/** The shorter form of a column; `undefined` where all values are the usual one. */
export function toColumn(values: readonly unknown[], usual: unknown): Column | undefined {
  const at: number[] = [];
  values.forEach((value, i) => {
    if ((value ?? null) !== usual) at.push(i);
  });
  if (at.length === 0) return undefined;
  return at.length * 2 > values.length
    ? values.map((value) => value ?? null)
    : { at, of: at.map((i) => values[i]) };
}

/** Reads the value of a place. */
export function fromColumn(column: Column | undefined, usual: unknown): (i: number) => unknown {
  if (column === undefined) return () => usual;
  if (isDense(column)) return (i) => column[i];
  const { at, of } = column;
  const values = new Map(at.map((place, i) => [place, of[i]]));
  return (i) => (values.has(i) ? values.get(i) : usual);
}

function isDense(column: Column): column is readonly unknown[] {
  return Array.isArray(column);
}
