/**
 * The live dashboard: a web page and an API that show runs in progress. The program serves them.
 */
export { dashboard } from "./plugins/dashboard/dashboard.js";
export type { Dashboard } from "./plugins/dashboard/dashboard.js";
export type {
  DashboardOptions,
  DashboardRole,
  DashboardUser,
} from "./plugins/dashboard/dashboard-options.js";
export type { ReportTarget } from "./plugins/dashboard/reporting/report-target.js";
export type { AlertOptions, AlertReason } from "./plugins/dashboard/alerts.js";
export type {
  ChatThreads,
  ConversationRegistration,
} from "./plugins/dashboard/control/chat-threads.js";
export type { Registration, Runnable } from "./plugins/dashboard/control/registrations.js";
export type { AuditAction, AuditEntry } from "./contracts/run-store.js";
export { RunStore } from "./plugins/dashboard/stores/run-store.js";
export type { RunFolderOptions, SqlRunsOptions } from "./plugins/dashboard/stores/run-store.js";
export type { RunMemoryOptions } from "./plugins/dashboard/stores/run-store.js";
