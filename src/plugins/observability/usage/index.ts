export { formatCost } from "./format-cost.js";
export { usageReport } from "./usage-report.js";
export type { UsageGrouping, UsageRow } from "./usage-report.js";
