/**
 * Formats a table as plain text. The first `leftAligned` columns are left-aligned, the others
 * right-aligned. A rule follows the head and precedes the last row.
 */
export function textTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  leftAligned: number,
): readonly string[] {
  const widths = head.map((title, column) =>
    rows.reduce((width, row) => Math.max(width, (row[column] ?? "").length), title.length),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        column < leftAligned
          ? cell.padEnd(widths[column] ?? 0)
          : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  const body = rows.map(line);
  return [line(head), rule, ...body.slice(0, -1), rule, ...body.slice(-1)];
}
