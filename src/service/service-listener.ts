/** The HTTP listener of a service. */
export interface ServiceListener {
  /** The address for clients. */
  readonly url: string;
  close(): Promise<void>;
}
