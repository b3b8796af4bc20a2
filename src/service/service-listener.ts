/** The HTTP listener of a service. */
export interface ServiceListener {
  /** The address under which others reach it. */
  readonly url: string;
  close(): Promise<void>;
}
