export const pascal = (name: string) => name.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Returns a text as lines of less than `width` characters, behind the indents of the first and of the next ones. */
export function wrap(text: string, first: string, next: string, width: number): string[] {
  const lines = [first]
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    const space = /(^\s*|""")$/.test(last) ? '' : ' '
    if (last.length + word.length < width) lines[lines.length - 1] = `${last}${space}${word}`
    else lines.push(`${next}${word}`)
  }
  return lines
}
