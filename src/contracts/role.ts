/** Returns the form of a role for comparisons: lower case, trimmed. */
export function canonicalRole(role: string): string {
  return role.trim().toLowerCase();
}

/** Returns a role as the name of a tool: lower case, `_` for all but letters of English and digits. */
export function toolNameOf(prefix: string, role: string): string {
  return `${prefix}${canonicalRole(role).replace(/[^a-z0-9]/gu, "_")}`.slice(0, 64);
}
