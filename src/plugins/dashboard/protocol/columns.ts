/**
 * The values of one field. It has all values, or the most frequent value and the exceptions with
 * their positions.
 */
export type Column =
  readonly unknown[] | { readonly at: readonly number[]; readonly of: readonly unknown[] };

/**
 * Returns the shorter form of a column. Returns `undefined` if all values are the most frequent
 * value.
 */
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

/** Returns the value at a position. */
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
