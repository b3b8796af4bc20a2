export { formatCost } from "../shared/format-cost.js";
export { usageReport } from "./usage-report.js";
export type { UsageGrouping, UsageRow } from "./usage-report.js";
