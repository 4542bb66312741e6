import { problems } from '@belfry/contract/problem'

export const camel = (name: string) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
export const pascal = (name: string) => name.replace(/^\w/, letter => letter.toUpperCase())

// Names of fields in texts are those of this library.
function inCamel(text: string): string {
  return text.replace(/`([a-z]+(?:_[a-z0-9]+)+)`/g, (quoted, name: string) =>
    name in problems || name.startsWith('secret_') ? quoted : `\`${camel(name)}\``,
  )
}

const maxLine = 108

// Returns a doc comment, whose lines are wrapped.
export function comment(text: string, indent: string): string {
  const whole = `/** ${inCamel(text)} */`
  if (whole.length + indent.length <= maxLine) return whole
  const lines = [`${indent} *`]
  for (const word of inCamel(text).split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last.length + word.length < maxLine) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(`${indent} * ${word}`)
  }
  return ['/**', ...lines, `${indent} */`].join('\n')
}
