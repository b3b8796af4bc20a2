/** The limits of the server for one client, and its time limits. Times are in milliseconds. */
export const LIMITS = Object.freeze({
  bodyBytes: 1024 * 1024,
  messageBytes: 256 * 1024,
  urlLength: 2_048,
  sockets: 100,
  unknownSockets: 20,
  messagesPerSecond: 50,
  /** Per user. */
  requestsPerMinute: 600,
  /** Per address. */
  failedSignInsPerMinute: 10,
  /**
   * Unsent bytes of a socket above which a client receives no further data until it has read them.
   */
  bufferedBytes: 1024 * 1024,
  /** Maximum bytes of one frame with entries. */
  frameBytes: 256 * 1024,
  /** Number of missed entries above which a client fetches the state again. */
  missedEntries: 5_000,
  watchedTasks: 8,
  /** Maximum bytes of one message of a process that reports its runs. */
  reportBytes: 4 * 1024 * 1024,
  reportsPerSecond: 5_000,
  /** Maximum number of runs of one process that have not ended. */
  processRuns: 1_000,
  /** Time without a connection after which the runs of a process count as interrupted. */
  processLostMs: 60_000,
  processAnswerMs: 20_000,
  /** Maximum number of entries of removed runs that wait for a board. */
  waitingEntries: 10_000,
  /** The first pause before a process reconnects. Each further pause is twice as long. */
  reconnectMs: 500,
  maxReconnectMs: 15_000,
  authMs: 5_000,
  flushMs: 30,
  summariesMs: 250,
  heartbeatMs: 15_000,
  receiveMs: 30_000,
  /** Maximum wait of a page for the store. After it, the page shows the runs in memory. */
  storeMs: 2_000,
  /** Maximum wait for the store when the dashboard closes. */
  closeMs: 10_000,
  /** Maximum time for a client to close its side of a socket. */
  socketCloseMs: 2_000,
});

/** See {@link LIMITS}. Tests use shorter times. */
export type BoardLimits = { readonly [K in keyof typeof LIMITS]: number };

export const BODY_LIMITS = Object.freeze({
  maxBodyBytes: LIMITS.bodyBytes,
  bodyTimeoutMs: LIMITS.receiveMs,
});
