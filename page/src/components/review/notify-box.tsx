import type { JSX } from "preact";
import { useBoard } from "../../stores/board.js";

/**
 * Switches notifications of new reviews on and off. Draws nothing in browsers without
 * notifications.
 */
export function NotifyBox(): JSX.Element | null {
  const { notify } = useBoard();
  const state = notify.state.value;
  if (state === undefined) return null;
  return (
    <label class="row rv-hint">
      <input
        type="checkbox"
        checked={state === "on"}
        disabled={state === "refused"}
        onChange={() => void notify.toggle()}
      />
      <span class="muted">
        {state === "refused" ? "This browser refuses notifications" : "Notify me of new reviews"}
      </span>
    </label>
  );
}
