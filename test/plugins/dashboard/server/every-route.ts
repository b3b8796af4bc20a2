/** A route of the dashboard, with names in the places of its parameters. */
export interface ListedRoute {
  readonly method: string;
  readonly path: string;
  /** The lowest role; `public`: no access is required. */
  readonly role: "public" | "viewer" | "reviewer" | "operator";
}

const LINES = `
  public GET /
  public GET /api/health/live
  public GET /api/health/ready
  viewer GET /api/status
  operator GET /api/audit
  viewer GET /api/runs
  viewer GET /api/runs/r
  operator DELETE /api/runs/r
  viewer GET /api/runs/r/log
  viewer GET /api/runs/r/tasks/t
  viewer GET /api/runs/r/bars
  viewer GET /api/runs/r/events
  viewer GET /api/runs/r/trace
  viewer GET /api/runs/r/export
  viewer GET /api/runs/r/ui-stream
  viewer GET /api/runs/r/actions
  operator POST /api/runs
  operator POST /api/runs/r/again
  operator POST /api/runs/r/resume
  operator POST /api/runs/r/fork
  operator POST /api/runs/r/settle
  operator POST /api/runs/r/cancel
  viewer GET /api/ensembles
  viewer GET /api/ensembles/n
  operator POST /api/ensembles/n/explain
  viewer GET /api/services
  operator GET /api/services/n/dead
  operator POST /api/services/n/redrive
  viewer GET /api/conversations
  viewer GET /api/conversations/n/threads
  viewer GET /api/conversations/n/threads/t
  viewer GET /api/panels
  viewer GET /api/panels/n
  viewer GET /api/runs/r/baseline
  operator PUT /api/runs/r/baseline
  operator DELETE /api/runs/r/baseline
  viewer GET /api/compare
  viewer GET /api/search
  viewer GET /api/reviews
  reviewer POST /api/reviews/r`;

/** All requests of a client. */
export const EVERY_ROUTE: readonly ListedRoute[] = LINES.trim()
  .split("\n")
  .map((line) => {
    const [role = "", method = "", path = ""] = line.trim().split(" ");
    return { method, path, role: role as ListedRoute["role"] };
  });
