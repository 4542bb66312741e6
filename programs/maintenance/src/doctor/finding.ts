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
