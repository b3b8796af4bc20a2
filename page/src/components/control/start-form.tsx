import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type {
  EnsembleBody,
  ExplainBody,
  RunAcceptedBody,
  StartableEnsemble,
  StartRunBody,
} from "../../../../src/plugins/dashboard/protocol/control-bodies.js";
import type { ApiError } from "../../api.js";
import { inputProblems, useAction } from "../../hooks/use-action.js";
import { useAnswerSources } from "../../hooks/use-answer-sources.js";
import { useKeys } from "../../hooks/use-keys.js";
import { errorWords } from "../../lib/api-words.js";
import { curlOf } from "../../lib/control/curl.js";
import {
  formFields,
  formResult,
  type FieldValue,
  type FormField,
  type FormValues,
} from "../../lib/control/form-fields.js";
import { answerFields, answersOf } from "../../lib/control/answer-sources.js";
import { RUN_OPTION_FIELDS, runOptions } from "../../lib/control/run-options.js";
import { hrefOf } from "../../lib/route.js";
import { titleOrName, visibleText } from "../../lib/visible-text.js";
import { useBoard } from "../../stores/board.js";
import { CopyButton } from "../errors/copy-button.js";
import { Icon } from "../icon.js";
import { Notice } from "../notice.js";
import { SendKey } from "../send-key.js";
import { FormFields } from "./form.js";
import { boundText, Preview, type Previewed } from "./preview.js";

/** The inputs of an ensemble, the prompts of a run, and the button that starts it. */
export function StartForm({ ensemble }: { readonly ensemble: StartableEnsemble }): JSX.Element {
  const { session } = useBoard();
  const form = useStart(ensemble);
  useKeys({ "Ctrl+Enter": form.start });
  const { shownProblems, refused } = form;
  const mayStart = session.may("operator");
  return (
    <div class="start-form">
      <form
        class="col"
        aria-label={`Inputs of ${ensemble.name}`}
        onSubmit={(event) => {
          event.preventDefault();
          form.start();
        }}
      >
        <h1>{visibleText(titleOrName(ensemble))}</h1>
        {ensemble.process !== undefined && (
          <p class="muted">Its runs are executed by the process {visibleText(ensemble.process)}.</p>
        )}
        {ensemble.description !== undefined && (
          <p class="muted">{visibleText(ensemble.description)}</p>
        )}
        {form.fields.length === 0 && <p class="muted">It needs no inputs.</p>}
        <FormFields
          fields={form.fields}
          values={form.values}
          problems={shownProblems}
          onValue={form.onValue}
        />
        <RunOptions {...form} />
        {shownProblems[""] !== undefined && <Notice kind="failed">{shownProblems[""]}</Notice>}
        {refused !== undefined && <Notice kind="failed">{visibleText(errorWords(refused))}</Notice>}
        {!mayStart && <Notice kind="waiting">Your role can’t start runs.</Notice>}
        <StartActions {...form} mayStart={mayStart} />
      </form>
      {form.previewed !== undefined && <Preview {...form.previewed} />}
    </div>
  );
}

/** The options of the run. The section is open if one of them is invalid. */
function RunOptions({ isOptionWrong, options, shownProblems, ...form }: StartState): JSX.Element {
  return (
    <details open={isOptionWrong || undefined}>
      <summary class="muted">Options of this run</summary>
      <div class="run-options">
        <FormFields
          fields={options}
          values={form.values}
          problems={shownProblems}
          onValue={form.onValue}
        />
      </div>
    </details>
  );
}

/** The upper bound of the cost as in the preview, and the buttons. */
function StartActions(form: StartState & { readonly mayStart: boolean }): JSX.Element {
  const isOff = !form.mayStart || form.isBusy;
  return (
    <div class="row wrap start-actions">
      {form.bound !== undefined && <b class="bound">{form.bound}</b>}
      <CopyButton title="Copy as curl" text={form.curl} />
      <button type="button" class="btn" disabled={isOff} onClick={form.explain}>
        Preview
      </button>
      <button type="submit" class="btn main big" disabled={isOff}>
        <Icon name="play" /> Start <SendKey />
      </button>
    </div>
  );
}

interface StartState {
  readonly fields: readonly FormField[];
  readonly options: readonly FormField[];
  readonly values: FormValues;
  readonly onValue: (key: string, value: FieldValue) => void;
  readonly shownProblems: Readonly<Record<string, string>>;
  /** A refusal that belongs to no field. */
  readonly refused: ApiError | undefined;
  readonly previewed: Previewed | undefined;
  /** The upper bound of the cost, if the inputs equal the inputs of the preview. */
  readonly bound: string | undefined;
  readonly isOptionWrong: boolean;
  readonly isBusy: boolean;
  /** The start as a command. */
  readonly curl: string;
  readonly start: () => void;
  readonly explain: () => void;
}

function useStart(ensemble: StartableEnsemble): StartState {
  const { api, route, session } = useBoard();
  const fields = useMemo(() => formFields(ensemble.inputs, ensemble.filled), [ensemble]);
  const [values, setValues] = useState<FormValues>({});
  const [isTried, setTried] = useState(false);
  const [previewed, setPreviewed] = useState<{ preview: Previewed; written: string }>();
  const action = useAction();
  const { inputs, problems: ofInputs } = formResult(fields, values);
  const { options, problems: ofOptions } = runOptions(values);
  const problems = { ...ofInputs, ...ofOptions };
  const sources = useAnswerSources(ensemble);
  const answers = answersOf(sources, values);
  const body: StartRunBody = { ensemble: ensemble.name, inputs, ...options, ...answers };
  const written = JSON.stringify(inputs);
  const attempt = (request: () => Promise<void>): void => {
    setTried(true);
    if (Object.keys(problems).length === 0) action.run(request);
  };
  const board = new URL(".", window.location.href.split("#")[0]).href.replace(/\/$/, "");
  return {
    fields,
    options: [...RUN_OPTION_FIELDS, ...answerFields(sources, values)],
    values,
    onValue: (key, value) => setValues({ ...values, [key]: value }),
    shownProblems: {
      ...inputProblems(action.error),
      ...(isTried ? problems : onlyWritten(problems, values)),
    },
    refused: action.error?.code === "INPUTS_INVALID" ? undefined : action.error,
    previewed: previewed?.preview,
    bound: previewed?.written === written ? boundText(previewed.preview.explained) : undefined,
    isOptionWrong: isTried && Object.keys(ofOptions).length > 0,
    isBusy: action.isBusy,
    curl: curlOf(board, "/api/runs", body, session.token.value !== undefined),
    start: () =>
      attempt(async () => {
        const { runId } = await api.send<RunAcceptedBody>("POST", "/api/runs", body);
        route.go(hrefOf(["runs", runId]));
      }),
    explain: () =>
      attempt(async () => {
        const path = `/api/ensembles/${encodeURIComponent(ensemble.name)}`;
        const explained = await api.send<ExplainBody>("POST", `${path}/explain`, { inputs });
        const { dag } = await api.get<EnsembleBody>(path);
        setPreviewed({ preview: { explained, dag }, written });
      }),
  };
}

/** Returns the problems of the fields that a user has edited. */
function onlyWritten(
  problems: Readonly<Record<string, string>>,
  values: FormValues,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(problems).filter(([key]) => Object.hasOwn(values, key)));
}
