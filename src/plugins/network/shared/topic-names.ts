/** Returns the topic for requests to cancel a request: `{ reason }`. */
export function cancelTopic(requestId: string): string {
  return `cancel.${requestId}`;
}

/** Returns the topic for events during the execution of a request. */
export function progressTopic(requestId: string): string {
  return `progress.${requestId}`;
}
