/** A key of 32 bytes in base64; with `previous` keys that still open what they sealed. */
export type JournalKeys =
  string | { readonly current: string; readonly previous?: readonly string[] };
