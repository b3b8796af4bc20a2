// The common parts of all programs: the task, the price list and the form of the result.
import { z } from "zod";

export const MODEL = "gpt-4o-mini";
export const QUESTION = "What do two lamps and one table cost together?";
export const CLERK = "You are a clerk. Calculate orders from the price list, without a mistake.";
export const WRITER = "You write short and friendly letters.";
export const Total = z.object({ euros: z.number() });
export const Item = z.object({ item: z.string().describe("one item, in singular") });

/** Returns the price of one item. */
export function priceOf(item: string): string {
  const price = new Map([
    ["lamp", 89],
    ["table", 240.5],
  ]).get(item);
  if (price === undefined) throw new Error(`There is no '${item}'`);
  return `${item}: ${price} euros`;
}

/** Returns the prompt of the second agent. */
export const letterAbout = (euros: number): string =>
  `Write one sentence that tells the customer the total: ${euros} euros.`;
