import { useState } from "preact/hooks";
import { useBoard } from "../../stores/board.js";

/** The unsent input of a user for a review. */
export interface Draft {
  readonly text: string;
  readonly comment: string;
}

export interface DraftControls extends Draft {
  /**
   * Keeps a change until the tab is closed, also across other reviews, other pages and a reload.
   */
  readonly change: (part: Partial<Draft>) => void;
  /** Removes the draft after an applied answer. The shown text remains. */
  readonly forget: () => void;
}

/** The draft of a review. `text` begins as the judged text. */
export function useDraft(reviewId: string, original: string): DraftControls {
  const { session } = useBoard().env;
  const name = `agentensemble.draft.${reviewId}`;
  const [draft, setDraft] = useState<Draft>(
    () => readDraft(session.read(name)) ?? { text: original, comment: "" },
  );
  return {
    ...draft,
    change: (part) => {
      const next = { ...draft, ...part };
      setDraft(next);
      const isEmpty = next.text === original && next.comment === "";
      session.write(name, isEmpty ? undefined : JSON.stringify([next.text, next.comment]));
    },
    forget: () => session.write(name, undefined),
  };
}

function readDraft(kept: string | undefined): Draft | undefined {
  if (kept === undefined) return undefined;
  const [text, comment] = JSON.parse(kept) as readonly [string, string]; // written above
  return { text, comment };
}
