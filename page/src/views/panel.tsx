import type { JSX } from "preact";
import type { PanelBody } from "../../../src/plugins/dashboard/protocol/control-bodies.js";
import { Code } from "../components/code.js";
import { Empty } from "../components/empty.js";
import { Notice } from "../components/notice.js";
import { Markdown } from "../components/written.js";
import { useFetched } from "../hooks/use-fetched.js";
import { errorWords } from "../lib/api-words.js";
import { hrefOf } from "../lib/route.js";
import { visibleText } from "../lib/visible-text.js";
import { useBoard } from "../stores/board.js";

/** Rows beyond this number are not drawn. */
const MOST_ROWS = 1_000;

/** A view of a run that a plugin adds: `#/panels/{name}?run=`. */
export function PanelView({ name }: { readonly name: string }): JSX.Element {
  const run = useBoard().route.current.value.query["run"] ?? "";
  const path = `/api/panels/${encodeURIComponent(name)}?run=${encodeURIComponent(run)}`;
  const state = useFetched<PanelBody>([path]);
  const body = state.kind === "ready" ? state.bodies[0] : undefined;
  return (
    <main class="page col">
      <a class="link" href={hrefOf(["runs", run])}>
        Run {visibleText(run.slice(0, 8))}
      </a>
      <h1>{visibleText(body?.title ?? name)}</h1>
      {state.kind === "failed" && <Notice kind="failed">{errorWords(state.error)}</Notice>}
      {state.kind === "loading" && <p class="muted">Loading …</p>}
      {body !== undefined && <PanelData {...body} />}
    </main>
  );
}

function PanelData({ view, data }: Pick<PanelBody, "view" | "data">): JSX.Element {
  if (view === "markdown" && typeof data === "string") return <Markdown text={data} />;
  if (view === "table" && Array.isArray(data)) return <Table rows={data} />;
  return <Code value={data} />;
}

function Table({ rows }: { readonly rows: readonly unknown[] }): JSX.Element {
  const records = rows
    .slice(0, MOST_ROWS)
    .map((row) => (typeof row === "object" && row !== null ? row : { value: row }));
  if (records.length === 0) return <Empty icon="doc" title="The table is empty" />;
  const columns = [...new Set(records.flatMap((row) => Object.keys(row)))];
  return (
    <div class="card table-card" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column}>{visibleText(column)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {records.map((row, i) => (
            <tr key={i}>
              {columns.map((column) => (
                <td key={column}>{cellText(new Map(Object.entries(row)).get(column))}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MOST_ROWS && (
        <p class="faint">{`${rows.length - MOST_ROWS} more rows are left out.`}</p>
      )}
    </div>
  );
}

function cellText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return visibleText(typeof value === "string" ? value : JSON.stringify(value));
}
