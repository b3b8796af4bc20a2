import { CALLBACK_EVENTS, type EnsembleEvent, type EnsembleListener, type Ev } from "../../contracts/events.js";

/** A listener that keeps what it hears; pass it in `listeners` as it is. */
export interface RecordingListener extends EnsembleListener {
  /** Every event that has a callback, in the order of arrival. */
  readonly events: readonly EnsembleEvent[];
  /** The types of the events, in order. */
  types(): readonly EnsembleEvent["type"][];
  /** The events of one type, in order. */
  of<K extends EnsembleEvent["type"]>(type: K): readonly Ev<K>[];
}

function isOfType<K extends EnsembleEvent["type"]>(event: EnsembleEvent, type: K): event is Ev<K> {
  return event.type === type;
}

/**
 * A listener that records the events of all runs it is given to.
 *
 * @example
 * const seen = recordingListener();
 * await new Ensemble({ ...options, listeners: [seen] }).run();
 * seen.types(); // ["ensemble_started", "task_started", ...]
 */
export function recordingListener(): RecordingListener {
  const events: EnsembleEvent[] = [];
  const record = (event: EnsembleEvent): void => void events.push(event);
  // One function serves every callback: each passes a member of the union.
  const callbacks: EnsembleListener = Object.fromEntries(Object.keys(CALLBACK_EVENTS).map((name) => [name, record]));
  return Object.freeze({
    ...callbacks,
    events,
    types: () => events.map((event) => event.type),
    of: <K extends EnsembleEvent["type"]>(type: K) => events.filter((event) => isOfType(event, type)),
  });
}
