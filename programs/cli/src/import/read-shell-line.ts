import { parse } from 'shell-quote'
import { ImportRefusal } from './entry.ts'

// A placeholder for a variable without a value. Files cannot contain it.
const unknown = '\u0000'

const quoted = String.raw`'[^']*'|"(?:[^"\\]|\\.)*"|\\.`
const quotedOrComment = new RegExp(String.raw`(${quoted})|(?<=[\s;&|()])#.*`, 'g')
const quotedOrHash = new RegExp(`(${quoted})|#`, 'g')

/** Returns a command without the comment at its end. */
export function withoutComment(line: string): string {
  return line.replace(quotedOrComment, (_, text = '') => text).trim()
}

/**
 * Returns the words of a command as a shell would parse them. Throws when the shell would do more than run one program.
 * Redirections are ignored, because Belfry stores every response; so is a last `&` or `;`.
 */
export function readShellLine(line: string, variables: Readonly<Record<string, string>>): string[] {
  if (/`|\$\(/.test(line)) throw new ImportRefusal('It runs another command to build itself.')
  if (/\$'/.test(line)) throw new ImportRefusal("It has a $'...' quote, which only shells support.")
  // Escapes a # within a word: shell-quote would start a comment there.
  const escaped = line.replace(quotedOrHash, (_, text = '\\#') => text)
  const entries = parse(escaped, name => variables[name] ?? `${unknown}${name}${unknown}`)
  const words: string[] = []
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i]
    if (entry === undefined) continue
    if (typeof entry === 'string') words.push(known(entry))
    else if ('comment' in entry) continue
    else if (entry.op === 'glob') words.push(known(entry.pattern))
    else if (['>', '>>', '>&', '&>', '<'].includes(entry.op)) {
      // The number of the stream precedes it, and the file follows it.
      if (/^[12]$/.test(words.at(-1) ?? '')) words.pop()
      i += 1
    } else if (i < entries.length - 1 || !['&', ';'].includes(entry.op)) throw refusalOf(entry.op)
  }
  return words
}

function known(word: string): string {
  const name = word.split(unknown)[1]
  if (name === undefined) return word
  if (name === '') throw new ImportRefusal('It has a $ outside of single quotes.')
  throw new ImportRefusal(`It uses $${name}, which the file does not set.`)
}

function refusalOf(operator: string): ImportRefusal {
  if (operator === '|') return new ImportRefusal('It passes the response to another program (|).')
  if (operator === '&') {
    return new ImportRefusal('It has an & outside of quotes, where a shell ends the command: quote the URL.')
  }
  return new ImportRefusal(`It is more than one command (${operator}).`)
}
