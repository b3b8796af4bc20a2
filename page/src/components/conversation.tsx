import type { JSX, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Conversation as ConversationData } from "../lib/conversation-types.js";
import { counted } from "../lib/format.js";
import { hrefOf } from "../lib/route.js";
import { useBoard } from "../stores/board.js";
import type { TaskDetail } from "../stores/task-detail-store.js";
import { Empty } from "./empty.js";
import { Icon } from "./icon.js";
import { Notice } from "./notice.js";
import { State } from "./state.js";
import { Turn, TurnFrame } from "./turn.js";
import { Written, type WrittenProps } from "./written.js";

export interface ConversationProps {
  readonly detail: TaskDetail;
  readonly conversation: ConversationData;
  /** The model call to scroll to, from 1. */
  readonly call: number | undefined;
  /** The entry to scroll to. */
  readonly entry: number | undefined;
  readonly isMarkdown: boolean;
}

/** Distance from the end in pixels within which the view follows the end. */
const NEAR = 24;

interface Follow {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly isFollowing: boolean;
  readonly toEnd: () => void;
  readonly onScroll: () => void;
}

/**
 * Scrolls to the end when one of `changes` changes, unless the user has scrolled up or opened a
 * call.
 */
function useFollow(isLive: boolean, call: number | undefined, changes: readonly unknown[]): Follow {
  const box = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(call === undefined);
  const toEnd = (): void => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  };
  const top = useRef(0);
  useEffect(() => {
    const last = box.current?.lastElementChild;
    if (!isFollowing || !isLive || !last) return undefined;
    toEnd();
    const observer = new ResizeObserver(toEnd); // it also grows after a late script or layout
    observer.observe(last);
    return () => observer.disconnect();
  }, [...changes, isFollowing]);
  const onScroll = (): void => {
    const element = box.current;
    if (element === null) return;
    const isUp = element.scrollTop < top.current;
    top.current = element.scrollTop;
    const isNear = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
    if (isNear || isUp) setFollowing(isNear); // new text moves the end, not the scroll position
  };
  return { box, isFollowing, toEnd, onScroll };
}

/** The prompts and answers of a task. Follows the end until the reader scrolls up. */
export function Conversation(props: ConversationProps): JSX.Element {
  const { detail, conversation, call, entry, isMarkdown } = props;
  const sought =
    entry === undefined ? undefined : conversation.turns.findLast(({ n }) => n <= entry);
  const { route, runs } = useBoard();
  const isLive = detail.writing !== "" || !isOver(conversation);
  const { box, isFollowing, toEnd, onScroll } = useFollow(isLive, call ?? entry, [
    conversation,
    detail.writing,
  ]);
  useEffect(() => {
    if (call === undefined && entry === undefined) return;
    box.current?.querySelector("[aria-current]")?.scrollIntoView();
  }, [call, entry, detail.state]);
  const { path, query } = route.current.value;
  // The board names its reviews by the task.
  const reporter = runs.summaryOf(path[1] ?? "")?.process;
  return (
    <>
      <div
        ref={box}
        class="scroll"
        onScroll={onScroll}
        tabIndex={0}
        role="log"
        aria-label="Conversation"
      >
        {conversation.isTrimmed && (
          <Notice kind="info">The texts of the oldest entries were given up.</Notice>
        )}
        {conversation.turns.map((turn) => (
          <Turn
            key={`${turn.n}${turn.kind}`}
            turn={turn}
            isMarkdown={isMarkdown}
            isCurrent={turn === sought || (turn.kind === "model" && turn.call === call)}
            hrefOfTask={(task) => hrefOf(path, { ...query, task, call: undefined })}
            hrefOfReview={(id) =>
              hrefOf(["reviews", reporter === undefined ? id : `${reporter}/${id}`])
            }
          />
        ))}
        {detail.writing !== "" && <Writing text={detail.writing} isMarkdown={isMarkdown} />}
        {detail.state === "ready" && conversation.turns.length === 0 && (
          <Empty icon="idle" title="Nothing yet">
            <p>The task has not begun.</p>
          </Empty>
        )}
      </div>
      {isLive && conversation.turns.length > 0 && (
        <FollowBar
          detail={detail}
          isAsked={conversation.turns.some((turn) => turn.kind === "review" && !turn.decision)}
          isFollowing={isFollowing}
          onFollow={toEnd}
        />
      )}
    </>
  );
}

/** The answer that the model is streaming. */
function Writing({ text, isMarkdown }: WrittenProps): JSX.Element {
  return (
    <TurnFrame look="model" icon="model" title="Writing">
      <Written text={text} isMarkdown={isMarkdown} />
      <span class="caret" />
    </TurnFrame>
  );
}

function isOver({ turns }: ConversationData): boolean {
  const last = turns.at(-1);
  return (
    last === undefined || (last.kind === "note" && ["Completed", "Failed"].includes(last.title))
  );
}

interface FollowBarProps {
  readonly detail: TaskDetail;
  /** Whether a review waits. */
  readonly isAsked: boolean;
  readonly isFollowing: boolean;
  readonly onFollow: () => void;
}

/** The output rate of the model, and whether the view follows the end. */
function FollowBar({ detail, isAsked, isFollowing, onFollow }: FollowBarProps): JSX.Element {
  const { env } = useBoard();
  const { writing, writingSinceMs } = detail;
  const seconds = writingSinceMs === undefined ? 0 : (env.now() - writingSinceMs) / 1_000;
  const words = counted(writing.length, "character");
  const rate = seconds > 0.5 ? ` · ${Math.round(writing.length / seconds)} per s` : "";
  return (
    <footer class="pane-foot">
      {isAsked ? (
        <State state="waiting" />
      ) : (
        <State state="running" word={writing === "" ? "at work" : `writing · ${words}${rate}`} />
      )}
      <span class="grow" />
      {isFollowing ? (
        <span class="faint nowrap">follows the end</span>
      ) : (
        <button type="button" class="btn bare" onClick={onFollow}>
          To the end <Icon name="down" />
        </button>
      )}
    </footer>
  );
}
