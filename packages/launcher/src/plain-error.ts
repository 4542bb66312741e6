/** An error whose message tells the user all that there is to know; a stack would not help. */
export class PlainError extends Error {}
