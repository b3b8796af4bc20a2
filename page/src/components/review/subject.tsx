import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { StoredReview } from "../../../../src/contracts/review.js";
import { kindOf, wordsOf } from "../../lib/reviews/review-words.js";
import { Code } from "../code.js";
import { Markdown } from "../written.js";
import { Notice } from "../notice.js";
import { Segments } from "../segments.js";
import { WordDiff } from "./word-diff.js";

/** The view of the judged text: the original, an editor, or the changes. */
export type SubjectMode = "original" | "edit" | "changes";

export interface SubjectProps {
  readonly review: StoredReview;
  readonly original: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly mode: SubjectMode;
  readonly onMode: (mode: SubjectMode) => void;
  /** The problem of the edit. */
  readonly problem: string | undefined;
  readonly canEdit: boolean;
}

const MODES = [
  { id: "original", title: "as it was" },
  { id: "edit", title: "edit" },
  { id: "changes", title: "changes" },
] as const;

/** The subject of a review: the arguments of a call, an output, or the answer to a question. */
export function Subject(props: SubjectProps): JSX.Element | null {
  const { review, text, original, mode, onMode, canEdit } = props;
  const kind = kindOf(review);
  if (kind === "before") return null;
  const hasModes = kind !== "question" && (canEdit || text !== original);
  return (
    <section class="col" aria-label={wordsOf(review).subject}>
      <div class="row">
        <h2 class="grow">{wordsOf(review).subject}</h2>
        {hasModes && (
          <Segments label="What is shown" options={MODES} selected={mode} onSelect={onMode} />
        )}
      </div>
      {review.truncated === true && (
        <Notice kind="waiting">
          This is only a part of the input: the rest is too large, or is no JSON.
        </Notice>
      )}
      <Shown {...props} />
    </section>
  );
}

function Shown(props: SubjectProps): JSX.Element {
  const { review, original, text, mode } = props;
  const kind = kindOf(review);
  if (kind === "question" || mode === "edit") return <Editor {...props} />;
  if (mode === "changes") return <WordDiff before={original} after={text} />;
  if (kind === "call") return <Code value={original} />;
  return (
    <div class="rv-output">
      <Markdown text={original} />
    </div>
  );
}

/** The editor. It takes the focus when the user opens it. */
function Editor({ review, text, onText, problem, canEdit }: SubjectProps): JSX.Element {
  const area = useRef<HTMLTextAreaElement>(null);
  const kind = kindOf(review);
  useEffect(() => {
    if (kind !== "question") area.current?.focus();
  }, [kind]);
  return (
    <div class={problem === undefined ? "field" : "field bad"}>
      <textarea
        ref={area}
        class={kind === "call" ? "mono" : ""}
        aria-label={wordsOf(review).subject}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : "edit-problem"}
        spellcheck={kind !== "call"}
        readOnly={!canEdit}
        rows={Math.min(24, Math.max(4, text.split("\n").length + 1))}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      {problem !== undefined && (
        <span class="err" id="edit-problem" role="status">
          {problem}
        </span>
      )}
    </div>
  );
}
