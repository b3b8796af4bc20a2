import type { Quote } from "./quotes.js";

const POOL = 200;
const FULL_SENTENCE_TERMS = 8;
const POSITION_WEIGHT = 0.15;
const REDUNDANCY_WEIGHT = 0.6;
const SAME_SOURCE_WEIGHT = 0.03;
const FRAGMENT_PENALTY = 10;

/** Returns the number of quotes with each term, relative to the most frequent term. */
function termWeights(quotes: readonly Quote[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { terms } of quotes)
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  const most = [...counts.values()].reduce((a, b) => Math.max(a, b), 1);
  return new Map([...counts].map(([term, count]) => [term, Math.sqrt(count / most)]));
}

/**
 * Returns the relevance of a quote: the mean weight of its terms. The beginning of a passage gets a
 * bonus.
 */
function scoreOf(quote: Quote, weights: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const term of quote.terms) sum += weights.get(term) ?? 0;
  const mean = sum / Math.max(FULL_SENTENCE_TERMS, quote.terms.size);
  return mean + POSITION_WEIGHT / (1 + quote.position) - (quote.good ? 0 : FRAGMENT_PENALTY);
}

/** Returns the cosine similarity of two sets of terms. */
function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const term of a) if (b.has(term)) shared++;
  return shared === 0 ? 0 : shared / Math.sqrt(a.size * b.size);
}

interface RankedQuote {
  readonly quote: Quote;
  readonly score: number;
  /** Similarity to the most similar selected quote. */
  redundancy: number;
  chosenOfSource: number;
}

function gain(c: RankedQuote): number {
  return c.score - REDUNDANCY_WEIGHT * c.redundancy - SAME_SOURCE_WEIGHT * c.chosenOfSource;
}

/**
 * Returns the `count` quotes that cover the text best, best first. Ranks by term frequency and
 * position. Skips quotes that repeat a selected one (maximal marginal relevance, Carbonell and
 * Goldstein 1998).
 */
export function rank(quotes: readonly Quote[], count: number): readonly Quote[] {
  const weights = termWeights(quotes);
  const scored = quotes.map((quote): RankedQuote => ({
    quote,
    score: scoreOf(quote, weights),
    redundancy: 0,
    chosenOfSource: 0,
  }));
  const pool = scored.sort((a, b) => b.score - a.score).slice(0, Math.max(POOL, count));
  const chosen: Quote[] = [];
  while (chosen.length < count && pool.length > 0) {
    const best = pool.reduce((a, b) => (gain(b) > gain(a) ? b : a));
    chosen.push(best.quote);
    pool.splice(pool.indexOf(best), 1);
    for (const other of pool) {
      other.redundancy = Math.max(
        other.redundancy,
        similarity(other.quote.terms, best.quote.terms),
      );
      if (other.quote.source === best.quote.source) other.chosenOfSource++;
    }
  }
  return chosen;
}
