import type { EnsembleEvent, EnsembleListener, Ev } from "../../contracts/events.js";

/** A listener that records its events. Pass it in `listeners`. */
export interface RecordingListener extends EnsembleListener {
  /** All events in the order of arrival. Tokens occur only if the run streams. */
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
 * Creates a listener that records the events of all its runs.
 *
 * @example
 * const seen = recordingListener();
 * await new Ensemble({ ...options, listeners: [seen] }).run();
 * seen.types(); // ["ensemble_started", "task_started", ...]
 */
export function recordingListener(): RecordingListener {
  const events: EnsembleEvent[] = [];
  return Object.freeze({
    on: (event: EnsembleEvent) => void events.push(event),
    events,
    types: () => events.map((event) => event.type),
    of: <K extends EnsembleEvent["type"]>(type: K) =>
      events.filter((event) => isOfType(event, type)),
  });
}
