import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useAction } from "../../hooks/use-action.js";
import { errorWords } from "../../lib/api-words.js";
import { visibleText } from "../../lib/visible-text.js";
import { useBoard } from "../../stores/board.js";
import { Notice } from "../notice.js";

export interface CancelPanelProps {
  readonly runId: string;
  readonly onDone: () => void;
}

/** Asks for a reason, then cancels the run. */
export function CancelPanel({ runId, onDone }: CancelPanelProps): JSX.Element {
  const { api } = useBoard();
  const [reason, setReason] = useState("");
  const action = useAction();
  const cancel = async (): Promise<void> => {
    const path = `/api/runs/${encodeURIComponent(runId)}/cancel`;
    await api.send("POST", path, reason === "" ? {} : { reason });
    onDone();
  };
  return (
    <form
      class="actions-panel"
      aria-label="Cancel the run"
      onSubmit={(event) => {
        event.preventDefault();
        action.run(cancel);
      }}
    >
      <div class="field">
        <label for="cancel-reason">Reason</label>
        <input
          id="cancel-reason"
          value={reason}
          placeholder="optional"
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </div>
      <p class="muted">What is finished stays. Calls under way are ended.</p>
      <button type="submit" class="btn danger" disabled={action.isBusy}>
        Cancel the run
      </button>
      {action.error !== undefined && (
        <Notice kind="failed" isUrgent>
          {visibleText(errorWords(action.error))}
        </Notice>
      )}
    </form>
  );
}
