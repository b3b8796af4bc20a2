/** Settings for sending results to webhooks. */
export interface WebhookOptions {
  /** The secret that signs the messages: at least 16 characters. */
  readonly secret: string;
  /**
   * The hosts that may receive messages: `hooks.example.com`, `*.example.com`. Their addresses must
   * be public and their ports 80 or 443, unless `allow` names them.
   */
  readonly hosts: readonly string[];
  /** Addresses that are allowed although they are not public. Default: none. */
  readonly allow?:
    | {
        /** Names, with or without a port: `intranet.example`, `localhost:8080`. */
        readonly hosts?: readonly string[] | undefined;
        /** Addresses and networks: `10.1.2.3`, `10.0.0.0/8`. */
        readonly addresses?: readonly string[] | undefined;
      }
    | undefined;
  /** Time limit of one attempt in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Limit of attempts to send a message. Default 5. */
  readonly maxAttempts?: number | undefined;
}
