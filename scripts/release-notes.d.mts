export function notesOf(changelog: string, version: string): string | null
export function findReleaseProblems(tag: string, readText?: (path: string) => string): string[]
