/** An item with a size in tokens. */
export interface Sized {
  readonly tokens: number;
}

/**
 * Packs items into bins of at most `budget` tokens by first fit decreasing. The largest items come
 * first. Equal items keep their order. Each item goes into the first bin with room. An item above
 * the budget gets a separate bin. Every item is in exactly one bin.
 */
export function packBins<T extends Sized>(
  items: readonly T[],
  budget: number,
): readonly (readonly T[])[] {
  const bins: { used: number; readonly items: T[] }[] = [];
  for (const item of items.toSorted((a, b) => b.tokens - a.tokens)) {
    const bin = bins.find(({ used }) => used + item.tokens <= budget);
    if (bin === undefined) bins.push({ used: item.tokens, items: [item] });
    else {
      bin.used += item.tokens;
      bin.items.push(item);
    }
  }
  return bins.map((bin) => bin.items);
}

/** Returns the tokens of all items. */
export function totalTokens(items: readonly Sized[]): number {
  return items.reduce((sum, { tokens }) => sum + tokens, 0);
}
