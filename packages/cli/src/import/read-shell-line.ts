import { parse } from 'shell-quote'
import { ImportRefusal } from './planned-job.ts'

// Stands for a variable without a value; no file has it.
const unknown = '\u0000'

/**
 * The words of a command as a shell would read them. What a shell would do beyond calling one program is refused, except
 * where its output goes: Belfry keeps every answer.
 */
export function readShellLine(line: string, variables: Readonly<Record<string, string>>): string[] {
  if (/`|\$\(/.test(line)) throw new ImportRefusal('It runs another command for a part of itself.')
  if (/\$'/.test(line)) throw new ImportRefusal("It is quoted as $'...', which is a shell's own.")
  const entries = parse(line, name => variables[name] ?? `${unknown}${name}${unknown}`)
  const words: string[] = []
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i]
    if (entry === undefined) continue
    if (typeof entry === 'string') words.push(known(entry))
    else if ('comment' in entry) throw new ImportRefusal('It has a # outside of quotes: quote the URL.')
    else if (entry.op === 'glob') words.push(known(entry.pattern))
    else if (['>', '>>', '>&', '&>'].includes(entry.op)) {
      // The number of the stream stands before it, and the file behind it.
      if (/^[12]$/.test(words.at(-1) ?? '')) words.pop()
      i += 1
    } else throw refusalOf(entry.op, i === entries.length - 1)
  }
  return words
}

function known(word: string): string {
  const name = word.split(unknown)[1]
  if (name === undefined) return word
  if (name === '') throw new ImportRefusal('It has a $ outside of single quotes.')
  throw new ImportRefusal(`It uses $${name}, which the file does not set.`)
}

function refusalOf(operator: string, isLast: boolean): ImportRefusal {
  if (operator === '|') return new ImportRefusal('It hands the answer to another program (|).')
  if (operator === '&' && !isLast) {
    return new ImportRefusal('It has an & outside of quotes, where a shell ends the command: quote the URL.')
  }
  return new ImportRefusal(`It is more than one command (${operator}).`)
}
