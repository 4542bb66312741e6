/** A start that is later than this is worth seeing. */
export const lateMs = 1000
