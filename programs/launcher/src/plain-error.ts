/** An error whose message is enough for the user, without a stack. */
export class PlainError extends Error {}
