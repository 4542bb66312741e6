/** Returns the fields of a manifest that name the repository. */
export function sourceOf(directory: string, env?: Readonly<Record<string, string | undefined>>): Record<string, unknown>
