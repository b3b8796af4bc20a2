import type { JSX } from "preact";
import type { StoredReview } from "../../../../src/contracts/review.js";
import type { EntriesBody } from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import { useFetched } from "../../hooks/use-fetched.js";
import { formatDuration } from "../../lib/format.js";
import { askedAt, contextOf, outputStep, stepsOf, type Step } from "../../lib/reviews/steps.js";
import { Icon } from "../icon.js";
import { Text } from "../text.js";

/** The maximum numbers of shown outputs of earlier tasks, and of steps of the task. */
const MOST_TASKS = 5;
const MOST_STEPS = 8;
const LONGEST = 600;

const ICONS = { task: "done", model: "model", tool: "tool", refused: "failed" } as const;

/** The events that preceded a review. */
export function LedTo({ review }: { readonly review: StoredReview }): JSX.Element | null {
  const { runId, taskId, reviewId } = review;
  const pathOf = (id: string): string =>
    `/api/runs/${encodeURIComponent(runId)}/tasks/${encodeURIComponent(id)}`;
  const own = useFetched<EntriesBody>([pathOf(taskId)], reviewId);
  const entries = own.kind === "ready" ? own.bodies.flatMap((body) => body.entries) : [];
  const before = contextOf(entries).slice(0, MOST_TASKS);
  const others = useFetched<EntriesBody>(before.map(pathOf));
  const outputs =
    others.kind === "ready"
      ? others.bodies.map((body, i) => outputStep(before[i] ?? "", body.entries)).filter(isStep)
      : [];
  const asked = askedAt(entries, reviewId) ?? Number.POSITIVE_INFINITY;
  const steps = [...outputs, ...stepsOf(entries, asked, MOST_STEPS)];
  if (own.kind === "failed")
    return <p class="faint">What led to it can’t be read: {own.error.message}.</p>;
  if (steps.length === 0) return null;
  return (
    <section aria-label="What led to it">
      <h2>What led to it</h2>
      <ol class="rv-steps">
        {steps.map((step) => (
          <li key={step.n} class={step.kind}>
            <Icon name={ICONS[step.kind]} />
            <div>
              <b>
                <Text>{step.title}</Text>
              </b>{" "}
              <span class="faint">
                <Text>{detailOf(step)}</Text>
              </span>
              <p class="muted">
                <Text>{shortened(step.text)}</Text>
              </p>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

function detailOf({ detail, durationMs }: Step): string {
  const parts = [detail.slice(0, 120), durationMs === undefined ? "" : formatDuration(durationMs)];
  return parts.filter((part) => part !== "").join(" · ");
}

function shortened(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
}

function isStep(step: Step | undefined): step is Step {
  return step !== undefined;
}
