/** How much the server takes from one client, and how long it waits. Times in milliseconds. */
export const LIMITS = Object.freeze({
  bodyBytes: 1024 * 1024,
  messageBytes: 256 * 1024,
  urlLength: 2_048,
  sockets: 100,
  unknownSockets: 20,
  messagesPerSecond: 50,
  /** Of one person. */
  requestsPerMinute: 600,
  /** Of one address. */
  failedSignInsPerMinute: 10,
  /** Bytes in a socket above which a client gets nothing more until it has read. */
  bufferedBytes: 1024 * 1024,
  /** Bytes of one frame with entries. */
  frameBytes: 256 * 1024,
  /** A client that has missed more entries fetches the state again. */
  missedEntries: 5_000,
  watchedTasks: 8,
  /** Bytes of one message of a process that reports its runs. */
  reportBytes: 4 * 1024 * 1024,
  reportsPerSecond: 5_000,
  /** Runs of one process that have not ended. */
  processRuns: 1_000,
  /** How long a process may be away until its runs count as interrupted. */
  processLostMs: 60_000,
  processAnswerMs: 20_000,
  /** Entries of runs that are no longer in memory, which wait for a board. */
  waitingEntries: 10_000,
  /** The first pause before a process connects again; each further one is twice as long. */
  reconnectMs: 500,
  maxReconnectMs: 15_000,
  authMs: 5_000,
  flushMs: 30,
  summariesMs: 250,
  heartbeatMs: 15_000,
  receiveMs: 30_000,
  /** How long a page waits for the store; it begins with the runs in memory then. */
  storeMs: 2_000,
  /** How long the end of the dashboard waits for the store. */
  closeMs: 10_000,
  /** How long a client may take to close its side of a socket. */
  socketCloseMs: 2_000,
});

/** See {@link LIMITS}; tests take shorter times. */
export type BoardLimits = { readonly [K in keyof typeof LIMITS]: number };

export const BODY_LIMITS = Object.freeze({
  maxBodyBytes: LIMITS.bodyBytes,
  bodyTimeoutMs: LIMITS.receiveMs,
});
