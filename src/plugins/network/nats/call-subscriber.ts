/** Calls a subscriber. Its failure must not affect the client and other subscribers. */
export function callSubscriber<T>(callback: (value: T) => void, value: T): void {
  try {
    callback(value);
  } catch {
    // only the subscriber is affected
  }
}
