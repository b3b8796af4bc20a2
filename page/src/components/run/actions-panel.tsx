import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type {
  EnsembleListBody,
  ForkRunBody,
  PanelListBody,
  RunAcceptedBody,
  RunAgainBody,
  RunForkedBody,
  SettleCallBody,
} from "../../../../src/plugins/dashboard/protocol/control-bodies.js";
import type {
  DoubtfulCall,
  RunAction,
  RunActionsBody,
} from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import { inputProblems, useAction, type Action } from "../../hooks/use-action.js";
import { useFetched } from "../../hooks/use-fetched.js";
import { useRunActions } from "../../hooks/use-run-actions.js";
import { errorWords } from "../../lib/api-words.js";
import { formFields, formResult, type FormValues } from "../../lib/control/form-fields.js";
import { hrefOf } from "../../lib/route.js";
import { visibleText } from "../../lib/visible-text.js";
import { useBoard } from "../../stores/board.js";
import type { OpenRun } from "../../stores/open-run-store.js";
import { FormFields } from "../control/form.js";
import { Notice } from "../notice.js";

export interface ActionsPanelProps {
  readonly run: OpenRun;
  readonly taskId: string | undefined;
}

const ACTIONS: readonly RunAction[] = [
  "again",
  "replay",
  "resume",
  "settle",
  "fork",
  "baseline",
  "remove",
];

/** The user's actions on the run without a button in the tool bar. */
export function ActionsPanel({ run, taskId }: ActionsPanelProps): JSX.Element {
  const path = `/api/runs/${encodeURIComponent(run.runId)}`;
  const { state, may, reload } = useRunActions(run);
  const action = useAction();
  if (state.kind === "failed")
    return (
      <div class="actions-panel">
        <Notice kind="failed">{errorWords(state.error)}</Notice>
      </div>
    );
  const body = state.kind === "ready" ? state.bodies[0] : undefined;
  if (body === undefined) return <p class="pane-head muted">Loading …</p>;
  const parts = { run, path, action, done: reload };
  return (
    <div class="actions-panel" role="group" aria-label="What to do with the run">
      {may("again") && <Again {...parts} />}
      {may("replay") && <Replay {...parts} answers={body.answers} />}
      {may("resume") && <Resume {...parts} />}
      {may("settle") && body.doubts.map((call) => <Doubt key={call.key} {...parts} call={call} />)}
      {may("fork") && <Fork {...parts} taskId={taskId} />}
      {may("baseline") && <Baseline {...parts} />}
      {may("remove") && <Remove {...parts} />}
      {!ACTIONS.some(may) && (
        <p class="muted">There is nothing that you may do with this run now.</p>
      )}
      <PanelLinks runId={run.runId} />
      {action.error !== undefined && action.error.code !== "INPUTS_INVALID" && (
        <Notice kind="failed" isUrgent>
          {visibleText(errorWords(action.error))}
        </Notice>
      )}
    </div>
  );
}

interface PartProps {
  readonly run: OpenRun;
  /** The path of the run's requests. */
  readonly path: string;
  readonly action: Action;
  readonly done: () => void;
}

interface DoProps {
  readonly action: Action;
  readonly isDanger?: boolean | undefined;
  readonly request: () => Promise<void>;
  readonly children: ComponentChildren;
}

function Do({ action, isDanger, request, children }: DoProps): JSX.Element {
  return (
    <button
      type="button"
      class={isDanger === true ? "btn danger" : "btn"}
      disabled={action.isBusy}
      onClick={() => action.run(request)}
    >
      {children}
    </button>
  );
}

/** Starts the run again with other inputs. */
function Again({ run, path, action }: PartProps): JSX.Element {
  const { api, route } = useBoard();
  const [isOpen, setOpen] = useState(false);
  const again = (inputs: RunAgainBody["inputs"]) => async (): Promise<void> => {
    const { runId } = await api.send<RunAcceptedBody>("POST", `${path}/again`, { inputs });
    route.go(hrefOf(["runs", runId]));
  };
  return (
    <>
      <button type="button" class="btn" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Run with other inputs
      </button>
      {isOpen && (
        <OtherInputs run={run} action={action} onInputs={(inputs) => action.run(again(inputs))} />
      )}
    </>
  );
}

interface OtherInputsProps {
  readonly run: OpenRun;
  readonly action: Action;
  readonly onInputs: (inputs: NonNullable<RunAgainBody["inputs"]>) => void;
}

/** The form of the run's ensemble, filled with the inputs of the run. */
function OtherInputs({ run, action, onInputs }: OtherInputsProps): JSX.Element {
  const [values, setValues] = useState<FormValues>({});
  const state = useFetched<EnsembleListBody>(["/api/ensembles"]);
  if (state.kind !== "ready") return <p class="muted">Loading …</p>;
  const { ensemble, inputs, process } = run.view.summary;
  const wanted = process === undefined ? ensemble : `${process}/${ensemble}`;
  const found = state.bodies.flatMap((body) => body.ensembles).find(({ name }) => name === wanted);
  const schema = found?.inputs ?? {
    type: "object",
    properties: Object.fromEntries(Object.keys(inputs).map((name) => [name, { type: "string" }])),
  };
  const fields = formFields(schema, inputs);
  const result = formResult(fields, values);
  const isGood = Object.keys(result.problems).length === 0;
  return (
    <form
      class="col"
      aria-label="Other inputs"
      onSubmit={(event) => {
        event.preventDefault();
        if (isGood) onInputs(result.inputs);
      }}
    >
      <FormFields
        fields={fields}
        values={values}
        problems={{ ...inputProblems(action.error), ...result.problems }}
        onValue={(key, value) => setValues({ ...values, [key]: value })}
      />
      <button type="submit" class="btn main" disabled={!isGood || action.isBusy}>
        Run with these
      </button>
    </form>
  );
}

/** Runs again with the previous answers. Models then cause no costs. */
function Replay({
  run,
  path,
  action,
  answers,
}: PartProps & Pick<RunActionsBody, "answers">): JSX.Element {
  const { api, route } = useBoard();
  const [isLive, setLive] = useState(false);
  const replay = (from: RunActionsBody["answers"][number]) => async (): Promise<void> => {
    const body: RunAgainBody = {
      answersFrom: from === "trace" ? run.runId : "recording",
      onMiss: isLive ? "live" : "fail",
    };
    const { runId } = await api.send<RunAcceptedBody>("POST", `${path}/again`, body);
    route.go(hrefOf(["runs", runId]));
  };
  return (
    <div class="row wrap">
      {answers.map((from) => (
        <Do key={from} action={action} request={replay(from)}>
          {from === "trace" ? "Replay from the trace" : "Replay from the recording"}
        </Do>
      ))}
      <label class="row">
        <input
          type="checkbox"
          checked={isLive}
          onChange={(event) => setLive(event.currentTarget.checked)}
        />
        pay for what changed
      </label>
    </div>
  );
}

function Resume({ path, action, done }: PartProps): JSX.Element {
  const { api } = useBoard();
  return (
    <Do
      action={action}
      request={async () => {
        await api.send("POST", `${path}/resume`, {});
        done();
      }}
    >
      Resume the run
    </Do>
  );
}

/** A tool call that may or may not have taken place. */
function Doubt({
  path,
  action,
  done,
  call,
}: PartProps & { readonly call: DoubtfulCall }): JSX.Element {
  const { api } = useBoard();
  const [result, setResult] = useState("");
  const id = `doubt-${call.key}`;
  const settle = (body: SettleCallBody) => async (): Promise<void> => {
    await api.send("POST", `${path}/settle`, body);
    done();
  };
  return (
    <div class="field">
      <label for={id}>
        Result of {visibleText(call.toolName)} in {visibleText(call.task)}, if the call took place
      </label>
      <textarea
        id={id}
        rows={2}
        value={result}
        onInput={(event) => setResult(event.currentTarget.value)}
      />
      <div class="row wrap">
        <Do action={action} request={settle({ key: call.key, result })}>
          It took place
        </Do>
        <Do action={action} request={settle({ key: call.key, again: true })}>
          Make the call again
        </Do>
      </div>
    </div>
  );
}

function Fork({
  path,
  action,
  taskId,
}: PartProps & { readonly taskId: string | undefined }): JSX.Element {
  const { api, route } = useBoard();
  const [forked, setForked] = useState<string>();
  const fork = (body: ForkRunBody) => async (): Promise<void> => {
    const { runId } = await api.send<RunForkedBody>("POST", `${path}/fork`, body);
    setForked(runId);
  };
  const resume = async (): Promise<void> => {
    if (forked === undefined) return;
    await api.send("POST", `/api/runs/${encodeURIComponent(forked)}/resume`, {});
    route.go(hrefOf(["runs", forked]));
  };
  if (forked !== undefined)
    return (
      <div class="row wrap" role="status">
        <span>
          The fork <code>{visibleText(forked)}</code> waits to be resumed.
        </span>
        <Do action={action} request={resume}>
          Resume the fork
        </Do>
      </div>
    );
  return (
    <div class="row wrap">
      <Do action={action} request={fork({})}>
        Fork the run
      </Do>
      {taskId !== undefined && (
        <Do action={action} request={fork({ from: taskId })}>
          Fork before {visibleText(taskId)}
        </Do>
      )}
    </div>
  );
}

function Baseline({ run, path, action, done }: PartProps): JSX.Element {
  const { api } = useBoard();
  const [isBaseline, setBaseline] = useState(run.view.summary.baseline === true);
  return (
    <Do
      action={action}
      request={async () => {
        await api.send(isBaseline ? "DELETE" : "PUT", `${path}/baseline`);
        setBaseline(!isBaseline);
        done();
      }}
    >
      {isBaseline ? "End the baseline" : "Make it the baseline"}
    </Do>
  );
}

function Remove({ path, action }: PartProps): JSX.Element {
  const { api, route } = useBoard();
  const [isSure, setSure] = useState(false);
  if (!isSure)
    return (
      <button type="button" class="btn danger" onClick={() => setSure(true)}>
        Remove the run …
      </button>
    );
  return (
    <Do
      action={action}
      isDanger
      request={async () => {
        await api.send("DELETE", path);
        route.go(hrefOf(["runs"]));
      }}
    >
      Remove it from memory and store
    </Do>
  );
}

/** The views of the run that plugins contribute. */
function PanelLinks({ runId }: { readonly runId: string }): JSX.Element | null {
  const state = useFetched<PanelListBody>([`/api/panels?run=${encodeURIComponent(runId)}`]);
  const panels = state.kind === "ready" ? state.bodies.flatMap((body) => body.panels) : [];
  if (panels.length === 0) return null;
  return (
    <div class="row wrap">
      {panels.map(({ name, title }) => (
        <a key={name} class="btn" href={hrefOf(["panels", name], { run: runId })}>
          {visibleText(title)}
        </a>
      ))}
    </div>
  );
}
