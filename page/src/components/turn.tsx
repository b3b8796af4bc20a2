import type { ComponentChildren, JSX } from "preact";
import type {
  DelegationTurn,
  ModelTurn,
  NoteTurn,
  PromptTurn,
  ReviewTurn,
  ToolTurn,
  Turn as TurnData,
} from "../lib/conversation-types.js";
import { formatBytes, formatCost, formatCount, formatDuration, counted } from "../lib/format.js";
import { shortModel } from "../lib/task-words.js";
import { visibleText } from "../lib/visible-text.js";
import { Code } from "./code.js";
import { Countdown } from "./countdown.js";
import { Icon, type IconName } from "./icon.js";
import { Sections } from "./sections.js";
import { Written } from "./written.js";

export interface TurnProps<T extends TurnData = TurnData> {
  readonly turn: T;
  /** Whether answers are shown as Markdown. */
  readonly isMarkdown: boolean;
  readonly isCurrent?: boolean | undefined;
  /** Returns the link of a task or a review. */
  readonly hrefOfTask: (taskId: string) => string;
  readonly hrefOfReview: (reviewId: string) => string;
}

/** One turn of a conversation. */
export function Turn(props: TurnProps): JSX.Element {
  const { turn } = props;
  switch (turn.kind) {
    case "prompt":
      return <Prompt {...props} turn={turn} />;
    case "model":
      return <Answer {...props} turn={turn} />;
    case "tool":
      return <ToolCall {...props} turn={turn} />;
    case "delegation":
      return <Delegation {...props} turn={turn} />;
    case "review":
      return <Review {...props} turn={turn} />;
    case "note":
      return <Note {...props} turn={turn} />;
  }
}

interface FrameProps {
  readonly look: string;
  readonly icon: IconName;
  readonly title: ComponentChildren;
  readonly end?: string | undefined;
  readonly isCurrent?: boolean | undefined;
  readonly children?: ComponentChildren;
}

/** The icon, the title and the end of the line, above the text of a turn. */
export function TurnFrame({
  look,
  icon,
  title,
  end,
  isCurrent,
  children,
}: FrameProps): JSX.Element {
  return (
    <article class={`turn ${look}`} {...(isCurrent === true && { "aria-current": true as const })}>
      <span class="who">
        <Icon name={icon} />
      </span>
      <div class="grow">
        <header>
          <b>{title}</b>
          {end !== undefined && end !== "" && <span class="end">{end}</span>}
        </header>
        {children}
      </div>
    </article>
  );
}

function Prompt({ turn, isMarkdown, isCurrent }: TurnProps<PromptTurn>): JSX.Element {
  const { sections, tools, text, system } = turn;
  return (
    <TurnFrame
      look=""
      icon="doc"
      title="Prompt"
      end={formatBytes(text.length + system.length)}
      isCurrent={isCurrent}
    >
      <Sections sections={sections} system={system} isMarkdown={isMarkdown} />
      {tools.length > 0 && <p class="faint">Tools: {tools.map(visibleText).join(", ")}</p>}
    </TurnFrame>
  );
}

function Answer({ turn, isMarkdown, isCurrent }: TurnProps<ModelTurn>): JSX.Element {
  const { call, text, error, toolCalls, reasoning, model, purpose } = turn;
  const name = model === "" ? "Model" : shortModel(model);
  const title = purpose === "" || purpose === "worker" ? name : `${name} · ${purpose}`;
  return (
    <TurnFrame
      look={error === undefined ? "model" : "failed"}
      icon={error === undefined ? "model" : "failed"}
      title={error === undefined ? title : `${title} did not answer`}
      end={`call ${call} · ${answerFigures(turn)}`}
      isCurrent={isCurrent}
    >
      {reasoning !== "" && (
        <details>
          <summary>Reasoning, {formatBytes(reasoning.length)}</summary>
          <Written text={reasoning} isMarkdown={isMarkdown} />
        </details>
      )}
      {error !== undefined && (
        <p>
          <code>{visibleText(error.code)}</code> {visibleText(error.message)}
        </p>
      )}
      {turn.isRepeated ? (
        <p class="muted">The same as before, word for word.</p>
      ) : (
        text !== "" && <Written text={text} isMarkdown={isMarkdown} />
      )}
      {text === "" && toolCalls > 0 && (
        <p class="muted">asks for {counted(toolCalls, "tool call")}</p>
      )}
    </TurnFrame>
  );
}

/** Formats `2.1 s · 1,204 → 61 · $0.0006`. Unknown values are shown as `unknown`. */
function answerFigures(turn: ModelTurn): string {
  const { durationMs, inputTokens, outputTokens, cachedTokens, cost, currency, isRecorded } = turn;
  const tokens = (count: number): string => (count < 0 ? "unknown" : formatCount(count));
  return [
    formatDuration(durationMs),
    turn.error === undefined && `${tokens(inputTokens)} → ${tokens(outputTokens)}`,
    cachedTokens > 0 && `${formatCount(cachedTokens)} cached`,
    cost !== undefined && formatCost(cost, currency),
    isRecorded && "recorded",
  ]
    .filter((part) => part !== false)
    .join(" · ");
}

/** The outcomes of tool calls, in words. */
const OUTCOMES: Readonly<Record<string, string>> = {
  SUCCESS: "",
  FAILURE: "failed",
  ERROR: "broke",
  TIMED_OUT: "took too long",
  REJECTED: "refused",
  CANCELLED: "cancelled",
  SKIPPED_MAX_ITERATIONS: "not made: too many calls",
};

function ToolCall({ turn, isCurrent }: TurnProps<ToolTurn>): JSX.Element {
  const { name, title, args, result, outcome, durationMs } = turn;
  const word =
    outcome === undefined
      ? "working"
      : (OUTCOMES[outcome] ?? outcome.toLowerCase().replaceAll("_", " "));
  const isGood = outcome === undefined || outcome === "SUCCESS";
  const time = durationMs === undefined ? "" : formatDuration(durationMs);
  return (
    <TurnFrame
      look={isGood ? "tool" : "failed"}
      icon="tool"
      title={visibleText(title ?? name)}
      end={[word, time].filter((part) => part !== "").join(" · ")}
      isCurrent={isCurrent}
    >
      {args !== "" && args !== "{}" && <Code value={args} limit={2_000} />}
      {result !== undefined && (
        <details open={!isGood || result.length < 200}>
          <summary>
            {isGood ? "Result" : "What the model was given"}, {formatBytes(result.length)}
          </summary>
          <Code value={result} />
        </details>
      )}
    </TurnFrame>
  );
}

function Delegation({
  turn,
  isMarkdown,
  isCurrent,
  hrefOfTask,
}: TurnProps<DelegationTurn>): JSX.Element {
  const { isHandoff, role, text, workerTaskId, state, result, durationMs } = turn;
  return (
    <TurnFrame
      look={state === "failed" ? "failed" : "delegate"}
      icon="handoff"
      title={`${isHandoff ? "Transferred" : "Delegated"} to ${visibleText(role)}`}
      end={durationMs === undefined ? "working" : formatDuration(durationMs)}
      isCurrent={isCurrent}
    >
      <Written text={text} isMarkdown={isMarkdown} />
      {workerTaskId !== undefined && (
        <a class="link" href={hrefOfTask(workerTaskId)}>
          {visibleText(workerTaskId)}
        </a>
      )}
      {result !== "" && (
        <details open={state === "failed"}>
          <summary>{state === "failed" ? "Why it failed" : "Answer"}</summary>
          <Written text={result} isMarkdown={isMarkdown} />
        </details>
      )}
    </TurnFrame>
  );
}

const DECISIONS: Readonly<Record<string, string>> = {
  CONTINUE: "Approved",
  EDIT: "Approved with edit",
  EXIT_EARLY: "Ended or refused",
  FAIL: "Failed: no answer in time",
};

function Review({ turn, isCurrent, hrefOfReview }: TurnProps<ReviewTurn>): JSX.Element {
  const { question, toolName, requiredRole, decision, by, comment, isTimedOut, deadline } = turn;
  const what = toolName === undefined ? "Review" : `Review of the call ${visibleText(toolName)}`;
  return (
    <TurnFrame
      look="waiting"
      icon="user"
      title={what}
      end={turn.durationMs === undefined ? "" : `answered after ${formatDuration(turn.durationMs)}`}
      isCurrent={isCurrent}
    >
      {question !== "" && <p>{visibleText(question)}</p>}
      {decision === undefined ? (
        <p>
          <a class="link" href={hrefOfReview(turn.reviewId)}>
            waits for {requiredRole === undefined ? "an answer" : visibleText(requiredRole)}
          </a>
          {deadline !== undefined && (
            <>
              {" · "}
              <Countdown to={deadline} />
            </>
          )}
        </p>
      ) : (
        <p class="muted">
          {DECISIONS[decision] ?? decision}
          {by !== undefined && ` by ${visibleText(by)}`}
          {isTimedOut && " when the time was up"}
          {comment !== undefined && `: ${visibleText(comment)}`}
        </p>
      )}
    </TurnFrame>
  );
}

const NOTE_ICONS = { info: "doc", waiting: "retry", failed: "failed", done: "done" } as const;

function Note({ turn, isCurrent }: TurnProps<NoteTurn>): JSX.Element {
  const { look, title, text, end } = turn;
  return (
    <TurnFrame
      look={look}
      icon={NOTE_ICONS[look]}
      title={visibleText(title)}
      end={visibleText(end)}
      isCurrent={isCurrent}
    >
      {text !== "" && <p class="prose plain">{visibleText(text)}</p>}
    </TurnFrame>
  );
}
