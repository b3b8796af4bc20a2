import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type {
  DeadLettersBody,
  RedriveBody,
  ServiceInfo,
  ServiceListBody,
} from "../../../src/plugins/dashboard/protocol/control-bodies.js";
import { Chip } from "../components/chip.js";
import { Empty } from "../components/empty.js";
import { Facts } from "../components/facts.js";
import { Notice } from "../components/notice.js";
import { useAction } from "../hooks/use-action.js";
import { useFetched } from "../hooks/use-fetched.js";
import { errorWords } from "../lib/api-words.js";
import { counted, formatAgo, formatCount, formatDuration, formatTime } from "../lib/format.js";
import { hrefOf } from "../lib/route.js";
import { visibleText } from "../lib/visible-text.js";
import { useBoard } from "../stores/board.js";

/** Interval at which the state of a service is fetched again. */
const REFRESH_MS = 5_000;

/** The services of the program: their queues, work, schedules and dead letters: `#/services`. */
export function ServicesView(): JSX.Element {
  const { env } = useBoard();
  const [version, setVersion] = useState(0);
  useEffect(() => env.later(() => setVersion(version + 1), REFRESH_MS), [version]);
  const state = useFetched<ServiceListBody>(["/api/services"], version);
  const services = state.kind === "ready" ? state.bodies.flatMap((body) => body.services) : [];
  return (
    <main class="page">
      <h1>Services</h1>
      {state.kind === "failed" && <Notice kind="failed">{errorWords(state.error)}</Notice>}
      {state.kind === "loading" && <p class="muted">Loading …</p>}
      {state.kind === "ready" && services.length === 0 && (
        <Empty icon="team" title="No service has been started">
          <p>Ensembles that are started are shown here.</p>
          <pre>{"await ensemble.start({ port: 7329 })"}</pre>
        </Empty>
      )}
      {services.map((service) => (
        <OneService key={service.name} service={service} onChange={() => setVersion(version + 1)} />
      ))}
    </main>
  );
}

interface OneServiceProps {
  readonly service: ServiceInfo;
  readonly onChange: () => void;
}

function OneService({ service, onChange }: OneServiceProps): JSX.Element {
  const { name, state, depth, problem } = service;
  const { session } = useBoard();
  return (
    <section class="card service" aria-label={`Service ${visibleText(name)}`}>
      <div class="row wrap">
        <h2>{visibleText(name)}</h2>
        <Chip kind={state === "READY" ? "done" : "waiting"}>{state.toLowerCase()}</Chip>
      </div>
      <Facts
        facts={[
          ["queued", depth && formatCount(depth.queued)],
          [
            "oldest waits",
            depth && depth.queued > 0 ? formatDuration(depth.oldestWaitMs) : undefined,
          ],
          ["at work here", formatCount(service.running)],
          ["at work", depth && formatCount(depth.leased)],
          ["dead letters", depth && formatCount(depth.dead)],
          ["kept in", visibleText(service.backend)],
          ["address", service.url && visibleText(service.url)],
          ["instance", visibleText(service.instance), service.instance],
        ]}
      />
      {problem !== undefined && <Notice kind="failed">{visibleText(problem)}</Notice>}
      <Requests requests={service.requests} />
      <Rows
        title="Shared work"
        columns={["Name", "Type", "Description"]}
        rows={service.shared.map((one) => [one.name, one.type.toLowerCase(), one.description])}
      />
      <Rows
        title="Schedules"
        columns={["Name", "Requests", "Times", "Next"]}
        rows={service.schedules.map(({ name: schedule, task, times, next }) => [
          schedule,
          task,
          times,
          next === undefined ? "never" : `${next.slice(0, 10)} ${formatTime(next)}`,
        ])}
      />
      {depth !== undefined && depth.dead > 0 && session.may("operator") && (
        <DeadLetters key={depth.dead} name={name} onChange={onChange} />
      )}
    </section>
  );
}

/** The requests that this process executes, each with its run. */
function Requests({ requests }: Pick<ServiceInfo, "requests">): JSX.Element | null {
  const { clock } = useBoard();
  return (
    <Rows
      title="At work here"
      columns={["Request", "Work", "From", "Attempt", "Since"]}
      rows={requests.map(({ requestId, runId, task, from, attempt, startedAt }) => [
        <a key={requestId} class="link" href={hrefOf(["runs", runId])}>
          {visibleText(requestId)}
        </a>,
        task,
        from,
        attempt,
        formatAgo(Date.parse(startedAt), clock.seconds.value),
      ])}
    />
  );
}

/** Dead letters, each with a button that queues the request again. */
function DeadLetters({
  name,
  onChange,
}: {
  readonly name: string;
  readonly onChange: () => void;
}): JSX.Element {
  const { api } = useBoard();
  const action = useAction();
  const path = `/api/services/${encodeURIComponent(name)}`;
  const state = useFetched<DeadLettersBody>([`${path}/dead`]);
  if (state.kind === "failed") return <Notice kind="failed">{errorWords(state.error)}</Notice>;
  const letters = state.kind === "ready" ? state.bodies.flatMap((body) => body.deadLetters) : [];
  const redrive = (requestId: string): void =>
    action.run(async () => {
      await api.send("POST", `${path}/redrive`, { requestId } satisfies RedriveBody);
      onChange();
    });
  return (
    <>
      {action.error !== undefined && (
        <Notice kind="failed">{visibleText(errorWords(action.error))}</Notice>
      )}
      <Rows
        title={counted(letters.length, "dead letter")}
        columns={["Request", "Work", "From", "Reason", ""]}
        rows={letters.map(({ request, reason }) => [
          request.requestId,
          request.task,
          request.from,
          reason,
          <button
            key={request.requestId}
            type="button"
            class="btn"
            disabled={action.isBusy}
            onClick={() => redrive(request.requestId)}
          >
            Queue again
          </button>,
        ])}
      />
    </>
  );
}

interface RowsProps {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly ComponentChildren[])[];
}

/** A small table. Draws nothing without rows. */
function Rows({ title, columns, rows }: RowsProps): JSX.Element | null {
  if (rows.length === 0) return null;
  return (
    <div class="service-rows" tabIndex={0} role="group" aria-label={title}>
      <h3>{title}</h3>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column}>{column === "" ? <span class="sr-only">Actions</span> : column}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, i) => (
            <tr key={i}>
              {cells.map((cell, column) => (
                <td key={column}>{typeof cell === "string" ? visibleText(cell) : cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
