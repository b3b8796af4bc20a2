import type { JSX } from "preact";
import type { EnsembleListBody } from "../../../src/plugins/dashboard/protocol/control-bodies.js";
import { StartForm } from "../components/control/start-form.js";
import { Empty } from "../components/empty.js";
import { Notice } from "../components/notice.js";
import { useFetched } from "../hooks/use-fetched.js";
import { errorWords } from "../lib/api-words.js";
import { counted } from "../lib/format.js";
import { hrefOf } from "../lib/route.js";
import { titleOrName, visibleText } from "../lib/visible-text.js";

/** Scrolls to a link. The list may be longer than its container, mainly on a narrow screen. */
function intoSight(link: HTMLElement | null): void {
  link?.scrollIntoView({ block: "nearest" });
}

/** The ensembles that can be started here, and the form of one ensemble: `#/ensembles/{name}`. */
export function EnsemblesView({ name }: { readonly name: string | undefined }): JSX.Element {
  const state = useFetched<EnsembleListBody>(["/api/ensembles"]);
  if (state.kind === "failed")
    return (
      <main class="page">
        <Notice kind="failed">{errorWords(state.error)}</Notice>
      </main>
    );
  if (state.kind === "loading")
    return (
      <main class="page">
        <p class="muted">Loading …</p>
      </main>
    );
  const ensembles = state.bodies.flatMap((body) => body.ensembles);
  if (ensembles.length === 0)
    return (
      <main class="page">
        <h1>Ensembles</h1>
        <Empty icon="team" title="No ensemble is registered">
          <p>Registered ensembles are started from here.</p>
          <pre>{'board.register("market-briefing", team)'}</pre>
        </Empty>
      </main>
    );
  const chosen = ensembles.find((one) => one.name === (name ?? ensembles[0]?.name));
  return (
    <main class="fill ensembles">
      <nav aria-label="Ensembles">
        <h2 class="pane-head">Ensembles</h2>
        {ensembles.map((one) => (
          <a
            key={one.name}
            href={hrefOf(["ensembles", one.name])}
            ref={one === chosen ? intoSight : null}
            {...(one === chosen && { "aria-current": "page" as const })}
          >
            <b>{visibleText(titleOrName(one))}</b>
            <span class="muted">
              {`${counted(one.tasks, "task")} · ${one.workflow}`}
              {one.process !== undefined && ` · ${visibleText(one.process)}`}
            </span>
          </a>
        ))}
      </nav>
      <div class="scroll" tabIndex={0} role="group" aria-label="Start a run">
        {chosen === undefined ? (
          <Empty icon="search" title={`No ensemble is registered as ${visibleText(name ?? "")}`} />
        ) : (
          <StartForm key={chosen.name} ensemble={chosen} />
        )}
      </div>
    </main>
  );
}
