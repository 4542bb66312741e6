/** A message did not reach its receiver. The text is a sentence for whoever wants to know why: it names no place. */
export class UndeliveredMessage extends Error {
  /** Whether trying again cannot help. */
  readonly isFinal: boolean

  constructor(text: string, options: { isFinal: boolean; cause?: unknown }) {
    super(text, 'cause' in options ? { cause: options.cause } : undefined)
    this.isFinal = options.isFinal
  }
}
