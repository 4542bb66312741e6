/** The time limit of an attempt, in milliseconds. */
export const timeoutLimits = { min: 1_000, default: 30_000, max: 900_000 } as const
