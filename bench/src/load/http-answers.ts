/** Splits what comes in on a keep-alive connection into answers. */
export type AnswerReader = {
  /** Takes a piece of the stream and tells the status and the text of every answer that is complete with it. */
  read(chunk: Buffer, onAnswer: (status: number, text: string) => void): void
}

export function createAnswerReader(): AnswerReader {
  let rest = ''
  return {
    read(chunk, onAnswer) {
      rest += chunk.toString('latin1')
      for (;;) {
        const headEnd = rest.indexOf('\r\n\r\n')
        if (headEnd === -1) return
        const end = headEnd + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(rest)?.[1] ?? 0)
        if (end > rest.length) return
        const answer = rest.slice(0, end)
        rest = rest.slice(end)
        onAnswer(Number(answer.slice(9, 12)), answer)
      }
    },
  }
}
