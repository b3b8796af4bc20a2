/** How results are sent to webhooks. */
export interface WebhookOptions {
  /** Signs the messages: at least 16 characters. */
  readonly secret: string;
  /**
   * The hosts that messages may be sent to: `hooks.example.com`, `*.example.com`. Their addresses
   * must be public, and their ports 80 or 443, unless `allow` names them.
   */
  readonly hosts: readonly string[];
  /** Allowed addresses that are not public. Default: none. */
  readonly allow?:
    | {
        /** Names, with or without a port: `intranet.example`, `localhost:8080`. */
        readonly hosts?: readonly string[] | undefined;
        /** Addresses and networks: `10.1.2.3`, `10.0.0.0/8`. */
        readonly addresses?: readonly string[] | undefined;
      }
    | undefined;
  /** Milliseconds for one attempt. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Attempts to send a message. Default 5. */
  readonly maxAttempts?: number | undefined;
}
