import { parseAssignments } from '../parse-options.ts'
import { ImportRefusal } from './entry.ts'

/** Returns the URL that `--target` gives for a target without a URL, such as a function or a topic. */
export function targetUrlOf(target: string, given?: readonly string[]): string {
  const url = parseAssignments('--target', given)[target]
  if (url !== undefined) return url
  throw new ImportRefusal(`Its target ${target} is not a URL. Give one: --target ${target}=https://...`)
}
