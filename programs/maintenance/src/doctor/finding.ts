/** `warning`: works, but not as it should. `problem`: tasks wait, fail or can be lost. */
export type Level = 'ok' | 'warning' | 'problem'

/** What a check found, and what the operator should do. */
export type Finding = { check: string; level: Level; message: string; advice?: string }

/** What one check returns: its name is added by the doctor. */
export type Observation = Omit<Finding, 'check'>

export function ok(message: string): Observation {
  return { level: 'ok', message }
}

export function warning(message: string, advice: string): Observation {
  return { level: 'warning', message, advice }
}

export function problem(message: string, advice: string): Observation {
  return { level: 'problem', message, advice }
}

/** Returns the message of an error. If every address of a name failed, the reasons are in `errors`. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}

/** Returns the code of a system or database error. */
export function codeOf(error: unknown): string | undefined {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
