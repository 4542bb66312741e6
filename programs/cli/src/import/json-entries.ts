import { parseInput } from '@belfry/contract/field-errors'
import { z } from 'zod'
import { parseAssignments } from '../parse-options.ts'
import { type Entry, type Found, ImportRefusal, refusalOf, toEntry } from './entry.ts'

/**
 * Returns an entry for each object of a JSON text: of a list, of a list in an object, or of objects one after the other.
 * @param nameOf - The member that names an object, or a function that returns the name. An object may have none.
 */
export function jsonEntries<T>(
  text: string,
  form: z.ZodType<T>,
  nameOf: string | ((object: Readonly<Record<string, unknown>>) => unknown),
  read: (object: T) => Found,
): Entry[] {
  return listOf(text).map((object, i) => {
    const name = typeof nameOf === 'string' ? object[nameOf] : nameOf(object)
    return toEntry(String(name ?? `schedule ${i + 1}`), () => {
      const parsed = parseInput(form, object)
      if (parsed.ok) return read(parsed.value)
      throw refusalOf(parsed.errors)
    })
  })
}

const objects = z.array(z.record(z.string(), z.unknown()))
const members = ['schedules', 'Schedules', 'jobs', 'crons']

function listOf(text: string): z.infer<typeof objects> {
  let value: unknown
  try {
    // In a text of several objects, a brace follows a brace; in a list, a comma is between them.
    value = JSON.parse(`[${text.replace(/\}\s*\n\s*\{/g, '},{')}]`).flat()
  } catch (error) {
    throw new ImportRefusal(`The file is not JSON: ${error instanceof Error ? error.message : error}`)
  }
  const [first] = value as unknown[]
  const list = objects.safeParse(members.map(name => Object(first)[name]).find(Array.isArray) ?? value)
  if (list.success) return list.data
  throw new ImportRefusal('The file is not a list of schedules.')
}

export function textOfBase64(base64: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'))
  } catch {
    throw new ImportRefusal('Its body is not text, and the import converts text only.')
  }
}

/** Returns the URL that `--target` gives for a target without a URL, such as a function or a topic. */
export function targetUrlOf(target: string, given?: readonly string[]): string {
  const url = parseAssignments('--target', given)[target]
  if (url !== undefined) return url
  throw new ImportRefusal(`Its target ${target} is not a URL. Give one: --target ${target}=https://...`)
}
