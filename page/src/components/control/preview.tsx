import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Dag } from "../../../../src/contracts/dag.js";
import type { ExplainBody } from "../../../../src/plugins/dashboard/protocol/control-bodies.js";
import { counted, formatCost, formatCount } from "../../lib/format.js";
import { promptSections } from "../../lib/prompt-sections.js";
import { visibleText } from "../../lib/visible-text.js";
import { Chip } from "../chip.js";
import { Sections } from "../sections.js";
import { PlanGraph } from "./plan-graph.js";

/** The requests of a run and its plan, for the preview. */
export interface Previewed {
  readonly explained: ExplainBody;
  readonly dag: Dag;
}

/** The requests that a run would send, shown without a model call. */
export function Preview({ explained, dag }: Previewed): JSX.Element {
  const { tasks, estimatedInputTokens, unbounded } = explained;
  const [chosen, setChosen] = useState(0);
  const task = tasks[chosen];
  return (
    <section class="col preview" aria-label="What would be sent">
      <div class="row">
        <h2 class="grow">What would be sent</h2>
        <Chip>no model is called</Chip>
      </div>
      <PlanGraph
        dag={dag}
        chosen={task?.taskId}
        onTask={(id) => setChosen(tasks.findIndex(({ taskId }) => taskId === id))}
      />
      <p>
        <b>{boundText(explained)}</b>
        <span class="muted">{` · about ${formatCount(estimatedInputTokens)} tokens in first prompts`}</span>
      </p>
      {unbounded.length > 0 && (
        <details>
          <summary class="muted">{counted(unbounded.length, "reason")}</summary>
          <ul class="reasons">
            {unbounded.map((reason) => (
              <li key={reason}>{visibleText(reason)}</li>
            ))}
          </ul>
        </details>
      )}
      <table>
        <thead>
          <tr>
            <th>Task</th>
            <th>Model</th>
            <th class="num">First prompt</th>
            <th class="num">Calls at most</th>
          </tr>
        </thead>
        <tbody>
          {tasks.map(({ taskId, model, estimatedInputTokens: tokens, maxModelCalls }, i) => (
            <tr key={taskId} {...(i === chosen && { "aria-current": true as const })}>
              <td>
                <button type="button" class="sort" onClick={() => setChosen(i)}>
                  <b>{visibleText(taskId)}</b>
                </button>
              </td>
              <td class="muted">{model === "" ? "–" : visibleText(model)}</td>
              <td class="num">{model === "" ? "–" : formatCount(tokens)}</td>
              <td class="num">{model === "" ? "–" : formatCount(maxModelCalls)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {task !== undefined && task.model !== "" && <TaskPrompt task={task} />}
    </section>
  );
}

/** Returns the upper bound of the cost, or the reason for a missing bound. */
export function boundText({ costBound, unbounded }: ExplainBody): string {
  if (costBound !== undefined)
    return `at most ${formatCost(costBound.totalCost, costBound.currency)}`;
  return unbounded.length > 0 ? "no upper bound of the cost" : "no prices are known";
}

/** The first prompt of a task. */
function TaskPrompt({ task }: { readonly task: ExplainBody["tasks"][number] }): JSX.Element {
  return (
    <>
      <h3>Prompt of {visibleText(task.taskId)}</h3>
      <Sections
        sections={promptSections(task.userPrompt)}
        system={task.systemPrompt}
        isOpen
        isMarkdown={false}
      />
      {task.tools.length > 0 && (
        <p class="faint">Tools: {task.tools.map(visibleText).join(", ")}</p>
      )}
    </>
  );
}
