/** A key of 32 bytes in base64, with `previous` keys that can still decrypt. */
export type JournalKeys =
  string | { readonly current: string; readonly previous?: readonly string[] };
