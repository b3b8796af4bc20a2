import type { Awaitable } from "./types.js";

/**
 * A view of a run that a plugin adds to the dashboard. The plugin supplies data. None of its code
 * runs in the page. Contributed to `Tokens.DashboardPanel`.
 */
export interface DashboardPanel {
  /** Unique on a dashboard: at most 64 letters, digits, `-` and `_`. */
  readonly name: string;
  readonly title: string;
  /** `table`: a list of objects, one per row. `markdown`: a text. `json`: any JSON data. */
  readonly view: "table" | "json" | "markdown";
  /**
   * Returns the data of a run. Called when a person opens the view. Secrets are removed from the
   * result.
   */
  read(runId: string): Awaitable<unknown>;
}
