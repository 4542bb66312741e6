import { UsageError } from '../usage-error.ts'
import { ImportRefusal } from './entry.ts'

/** Returns the URL that `--target` gives instead of a target that has none, such as a function or a topic. */
export function targetUrlOf(target: string, given: readonly string[] = []): string {
  const urls = new Map(
    given.map(one => {
      const [, name, url] = /^(.+?)=(https?:\/\/.+)$/.exec(one) ?? []
      if (name === undefined || url === undefined)
        throw new UsageError(`--target ${one} must look like name=https://...`)
      return [name, url]
    }),
  )
  const url = urls.get(target)
  if (url !== undefined) return url
  throw new ImportRefusal(`Its target ${target} is not a URL. Give one: --target ${target}=https://...`)
}
