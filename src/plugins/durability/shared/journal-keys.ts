/** A key of 32 bytes in base64. `previous` keys are used for decryption only. */
export type JournalKeys =
  string | { readonly current: string; readonly previous?: readonly string[] };
