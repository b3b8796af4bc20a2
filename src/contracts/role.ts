/** Returns a role in the form used for comparisons: lower case, trimmed. */
export function canonicalRole(role: string): string {
  return role.trim().toLowerCase();
}

/**
 * Returns a tool name of the prefix and the role in lower case. `_` replaces all characters except
 * English letters and digits. The name has at most 64 characters.
 */
export function toolNameOf(prefix: string, role: string): string {
  return `${prefix}${canonicalRole(role).replace(/[^a-z0-9]/gu, "_")}`.slice(0, 64);
}
