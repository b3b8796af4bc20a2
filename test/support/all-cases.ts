/**
 * Whether the cases run that repeat others on a slower path. `npm test` leaves them to
 * `npm run ci:full` and `npm run coverage`, which set `ALL_CASES`.
 */
export const allCases = process.env["ALL_CASES"] !== undefined;
