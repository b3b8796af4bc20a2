/**
 * Whether the slow cases run. Other cases, or steps of `npm run ci:full`, also cover them. `npm
 * test` omits these cases; `npm run coverage` and `npm run ci:full` set `ALL_CASES` to include
 * them.
 */
export const allCases = process.env["ALL_CASES"] !== undefined;
